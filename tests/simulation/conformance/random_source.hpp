// Random choices from a seed, the same with every compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace redlock::simulation {

/// Use at most one draw per statement: compilers evaluate arguments in different orders.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_{seed} {}

  /// From 0 up to, but not including, the end.
  std::size_t below(std::size_t end) { return engine_() % end; }
  bool one_in(std::size_t many) { return below(many) == 0; }
  /// From the first to the last, both inclusive.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(below(static_cast<std::size_t>(last - first + 1)));
  }
  std::string pick(std::span<const std::string_view> texts) {
    return std::string{texts[below(texts.size())]};
  }
  std::string pick(std::initializer_list<std::string_view> texts) {
    return pick(std::span{texts.begin(), texts.size()});
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace redlock::simulation
