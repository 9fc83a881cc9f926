#include "tool/time_text.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr double longest_seconds = 365.0 * 24 * 3600;

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};

[[noreturn]] void refuse(std::string_view text, std::string_view allowed) {
  throw std::invalid_argument{"'" + std::string{text} + "' is not a time; " + std::string{allowed}};
}

/// `bare`: the unit of a number without one, in seconds; 0 if a unit is required.
nanoseconds parse(std::string_view text, double bare, std::string_view allowed) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc{} || !(number >= 0)) refuse(text, allowed);
  const std::string_view name{parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)};
  double scale = name.empty() ? bare : 0;
  for (const Unit& unit : units)
    if (unit.name == name) scale = unit.seconds;
  if (scale == 0 || number * scale > longest_seconds) refuse(text, allowed);
  return nanoseconds{static_cast<nanoseconds::rep>(std::ceil(number * scale * 1e9))};
}

}  // namespace

nanoseconds parse_time(std::string_view text) {
  return parse(text, 0, "allowed: a number with ms, s, m or h, such as 500ms, 30s or 2m, up to 365 days");
}

nanoseconds parse_seconds(std::string_view text) {
  return parse(text, 1, "allowed: seconds, such as 5 or 0.5, or a number with ms, s, m or h, up to 365 days");
}

std::string readable(milliseconds time) {
  const long long all = time.count();
  if (all < 1000) return std::to_string(all) + " ms";
  if (all >= 60'000) {
    const long long seconds = all / 1000;
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return std::to_string(all / 1000) + '.' + std::to_string(all / 100 % 10) + " s";
}

}  // namespace redlock::tool
