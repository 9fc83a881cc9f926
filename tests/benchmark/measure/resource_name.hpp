// Names of resources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::benchmark {

/// Names of the same length for all contestants, so that all send equally many bytes: a new one each time.
class ResourceName {
 public:
  static constexpr std::size_t size = sizeof "bench/x/0000/00000000" - 1;

  /// `contestant`: a different letter for each, so that a late release never meets a lock of another
  /// contestant.
  ResourceName(char contestant, unsigned caller) {
    text_[6] = contestant;
    write(caller, 8, 4);
  }

  /// The same one each time.
  static ResourceName always(char contestant) {
    ResourceName name{contestant, 0};
    name.is_new_ = false;
    return name;
  }

  std::string_view next() {
    if (is_new_) write(++count_, 13, 8);
    return text_;
  }

 private:
  void write(std::uint32_t number, std::size_t at, std::size_t digits) {
    for (std::size_t i = at + digits; i-- > at; number /= 10) text_[i] = static_cast<char>('0' + number % 10);
  }

  std::string text_ = "bench/x/0000/00000000";
  std::uint32_t count_ = 0;
  bool is_new_ = true;
};

}  // namespace redlock::benchmark
