#include "values/time_text.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

namespace redlock::inline v1::detail {
namespace {

constexpr double longest_seconds = 365.0 * 24 * 3600;

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit units[] = {{"", 1}, {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument{"'" + std::string{text} +
                              "' is not a time; allowed: seconds, or a number with ms, s, m or h, such as "
                              "0.5, 500ms, 30s or 2m, up to 365 "
                              "days"};
}

}  // namespace

Clock::duration parse_time(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc{} || !(number >= 0)) refuse(text);
  const std::string_view name{parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)};
  for (const Unit& unit : units)
    if (unit.name == name && number * unit.seconds <= longest_seconds)
      return Clock::duration{static_cast<Clock::rep>(std::ceil(number * unit.seconds * 1e9))};
  refuse(text);
}

}  // namespace redlock::inline v1::detail
