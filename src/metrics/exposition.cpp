#include "metrics/exposition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "redlock/core/base/printable.hpp"

namespace redlock::inline v1::detail {
namespace {

std::string text_of(double number) {
  std::array<char, 400> digits{};  // the largest double has 309
  const auto end = std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed).ptr;
  return {digits.begin(), end};
}

std::string joined(const std::string& labels, const std::string& more) {
  return labels + (labels.empty() || more.empty() ? "" : ",") + more;
}

}  // namespace

std::string label(std::string_view name, std::string_view value) {
  std::string text{name};
  text += "=\"";
  while (!value.empty()) {
    const std::size_t length = core::printable_character(value);
    const std::string_view character = value.substr(0, std::max<std::size_t>(length, 1));
    value.remove_prefix(character.size());
    if (character == "\n")
      text += "\\n";
    else if (length == 0)
      text += "\xef\xbf\xbd";
    else
      text.append(character == "\\" || character == "\"" ? "\\" : "").append(character);
  }
  return text += '"';
}

void Histogram::observe(const std::string& labels, double number) {
  Series& series =
      series_.try_emplace(labels, Series{std::vector<std::uint64_t>(bounds_.size() + 1)}).first->second;
  ++series.counts[static_cast<std::size_t>(std::ranges::lower_bound(bounds_, number) - bounds_.begin())];
  series.sum += number;
}

void Exposition::add(std::string_view name, std::string_view help, const Counter& counter,
                     std::string_view type) {
  if (counter.values().empty()) return;
  head(name, type, help);
  for (const auto& [labels, value] : counter.values()) line(name, "", labels, std::to_string(value));
}

void Exposition::add(std::string_view name, std::string_view help, const Histogram& histogram) {
  if (histogram.series().empty()) return;
  head(name, "histogram", help);
  for (const auto& [labels, series] : histogram.series()) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < series.counts.size(); ++i) {
      count += series.counts[i];
      const bool is_last = i == histogram.bounds().size();
      const std::string bound = is_last ? "+Inf" : text_of(histogram.bounds()[i]);
      line(name, "_bucket", joined(labels, label("le", bound)), std::to_string(count));
    }
    line(name, "_sum", labels, text_of(series.sum));
    line(name, "_count", labels, std::to_string(count));
  }
}

void Exposition::head(std::string_view name, std::string_view type, std::string_view help) {
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Exposition::line(std::string_view name, std::string_view suffix, const std::string& labels,
                      std::string_view value) {
  text_.append(name).append(suffix);
  if (const std::string all = joined(labels_, labels); !all.empty()) text_.append("{" + all + "}");
  text_.append(" ").append(value).append("\n");
}

}  // namespace redlock::inline v1::detail
