// A strict reader of Prometheus' text format.
#pragma once

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace redlock::testing {

/// The values in a text. Throws `std::runtime_error` if the text violates version 0.0.4 of the format or
/// these rules: every line ends with a line feed, every metric has one HELP and one TYPE before its first
/// line, no line appears twice, there are no timestamps, and the bucket counts of a histogram do not exceed
/// its total count.
class MetricsText {
 public:
  explicit MetricsText(const std::string& text) {
    if (!text.empty() && text.back() != '\n') fail("the last line has no line feed", text);
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) read(line);
    for (const auto& [series, value] : values_) check_histogram(series, value);
  }

  /// The value of the line with this name and these labels: `name{a="b"}`. Throws `std::out_of_range` if
  /// there is none.
  [[nodiscard]] double operator[](const std::string& series) const { return values_.at(series); }
  [[nodiscard]] bool has(const std::string& series) const { return values_.count(series) != 0; }
  [[nodiscard]] const std::map<std::string, double>& values() const noexcept { return values_; }
  /// `counter`, `gauge` or `histogram`.
  [[nodiscard]] const std::string& type(const std::string& metric) const { return types_.at(metric); }

 private:
  [[noreturn]] static void fail(const std::string& what, const std::string& where) {
    throw std::runtime_error{what + ": " + where};
  }

  void read(const std::string& line) {
    static const std::regex help{R"(# HELP ([a-z_]+) (?:[^\\]|\\\\|\\n)+)"};
    static const std::regex type{R"(# TYPE ([a-z_]+) (counter|gauge|histogram))"};
    static const std::regex sample{
        R"re((([a-z_]+)(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\]|\\["\\n])*",?)+\})?) (\d+(?:\.\d+)?))re"};
    std::smatch parts;
    if (std::regex_match(line, parts, help)) {
      if (!helps_.insert(parts[1]).second) fail("a second HELP", line);
      current_ = parts[1];
    } else if (std::regex_match(line, parts, type)) {
      if (parts[1] != current_ || !types_.emplace(parts[1], parts[2]).second) fail("a misplaced TYPE", line);
    } else if (std::regex_match(line, parts, sample)) {
      check_name(parts[2], line);
      if (!values_.emplace(parts[1], std::stod(parts[3])).second) fail("a duplicate line", line);
    } else {
      fail("a malformed line", line);
    }
  }

  void check_name(const std::string& name, const std::string& line) const {
    if (types_.count(current_) == 0) fail("a line without a TYPE", line);
    const bool is_histogram = types_.at(current_) == "histogram";
    const auto is = [&](const char* suffix) { return name == current_ + suffix; };
    if (is_histogram ? !is("_bucket") && !is("_sum") && !is("_count") : !is(""))
      fail("a line of another metric among those of " + current_, line);
    if (types_.at(current_) == "counter" && !current_.ends_with("_total"))
      fail("a counter without the suffix _total", line);
  }

  /// Checks a line `…_bucket{…,le="…"}`: its value must not exceed the count of its histogram, and +Inf must
  /// equal it.
  void check_histogram(const std::string& series, double value) const {
    static const std::regex bucket{R"re(([a-z_]+)_bucket(\{?)(.*?),?le="([^"]*)"\})re"};
    std::smatch parts;
    if (!std::regex_match(series, parts, bucket)) return;
    const std::string labels = parts[3].length() == 0 ? "" : "{" + parts[3].str() + "}";
    const double all = values_.at(parts[1].str() + "_count" + labels);
    if (!has(parts[1].str() + "_sum" + labels)) fail("a histogram without a sum", series);
    if (parts[4] == "+Inf" ? value != all : value > all) fail("a wrong bucket count", series);
  }

  std::string current_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> values_;
};

}  // namespace redlock::testing
