#include "values/time_text.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "redlock/core/base/printable.hpp"

namespace redlock::inline v1::detail {
namespace {

constexpr double longest_nanoseconds = 365.0 * 24 * 3600e9;

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr Unit units[] = {{"", 1e9}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument{"'" + core::printable(text) +
                              "' is not a time; allowed: seconds, or a number with ms, s, m or h, such as "
                              "0.5, 500ms, 30s or 2m, up to 365 "
                              "days"};
}

/// The number of `digits` with at most one decimal point. (libc++ before 20 has no std::from_chars for such numbers.)
double number_of(std::string_view digits) {
  constexpr double finest = 1e15;
  double number = 0;
  double parts = 1;  // of which `number` is the count
  bool is_whole = true;
  for (const char digit : digits)
    if (digit == '.') {
      is_whole = false;
    } else if (is_whole || parts < finest) {
      number = number * 10 + (digit - '0');
      if (!is_whole) parts *= 10;
    }
  return number / parts;
}

}  // namespace

Clock::duration parse_time(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(".0123456789"));
  const std::string_view name = text.substr(digits.size());
  if (digits.find_first_not_of('.') == digits.npos || digits.find('.') != digits.rfind('.')) refuse(text);
  const double number = number_of(digits);
  for (const Unit& unit : units)
    if (unit.name == name && number * unit.nanoseconds <= longest_nanoseconds)
      return Clock::duration{static_cast<Clock::rep>(std::ceil(number * unit.nanoseconds))};
  refuse(text);
}

}  // namespace redlock::inline v1::detail
