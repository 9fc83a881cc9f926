// Choices from a seed, the same with every compiler and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace redlock::simulation {

/// One draw a statement: in which order arguments are evaluated differs between compilers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_{seed} {}

  /// From 0 up to, and without, the end.
  std::size_t below(std::size_t end) { return random_() % end; }
  bool one_in(std::size_t many) { return below(many) == 0; }
  /// From the first to the last, both included.
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
  std::mt19937_64 random_;
};

}  // namespace redlock::simulation
