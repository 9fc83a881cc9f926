// What a fuzzer lets happen.
#pragma once

#include <cstddef>
#include <string_view>

namespace redlock::testing {

/// The bytes that a fuzzer has not used yet. When all are used, zeros follow.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : left_{bytes} {}
  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }
  [[nodiscard]] std::size_t next() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  [[nodiscard]] std::size_t below(std::size_t bound) { return next() % bound; }
  /// Returns all that are left.
  [[nodiscard]] std::string_view rest() { return take(left_.size()); }
  [[nodiscard]] std::string_view take(std::size_t size) {
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view left_;
};

}  // namespace redlock::testing
