// Names of resources that are locked only once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::benchmark {

/// New names of the same length for all contestants, so that all send equally many bytes.
class ResourceName {
 public:
  static constexpr std::size_t size = sizeof "bench/x/0000/00000000" - 1;

  /// `contestant`: a different letter for each, so that a late release never meets a lock of another
  /// contestant.
  ResourceName(char contestant, unsigned caller) {
    text_[6] = contestant;
    write(caller, 8, 4);
  }

  std::string_view next() {
    write(++count_, 13, 8);
    return text_;
  }

 private:
  void write(std::uint32_t number, std::size_t at, std::size_t digits) {
    for (std::size_t i = at + digits; i-- > at; number /= 10) text_[i] = static_cast<char>('0' + number % 10);
  }

  std::string text_ = "bench/x/0000/00000000";
  std::uint32_t count_ = 0;
};

/// Always the same name, which is as long.
struct SameName {
  [[nodiscard]] static std::string_view next() noexcept { return "bench/x/0000/semaphore"; }
};

}  // namespace redlock::benchmark
