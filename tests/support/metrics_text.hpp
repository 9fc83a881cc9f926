// A reader of Prometheus' text format that forgives nothing.
#pragma once

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace redlock::testing {

/// What a text says. Throws `std::runtime_error` where it is not as the format, version 0.0.4, wants it: every line ended,
/// every metric with its HELP and TYPE before its first line and never again, no line twice, no timestamps; and every
/// histogram with counts that grow to those of all.
class MetricsText {
 public:
  explicit MetricsText(const std::string& text) {
    if (!text.empty() && text.back() != '\n') fail("the last line has no end", text);
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) read(line);
    for (const auto& [series, value] : values_) check_histogram(series, value);
  }

  /// Of a line, by what stands before the value: `name{a="b"}`. Throws `std::out_of_range` when there is none.
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
      if (!values_.emplace(parts[1], std::stod(parts[3])).second) fail("said twice", line);
    } else {
      fail("no line of the format", line);
    }
  }

  void check_name(const std::string& name, const std::string& line) const {
    if (types_.count(current_) == 0) fail("without a TYPE", line);
    const bool is_histogram = types_.at(current_) == "histogram";
    const auto is = [&](const char* suffix) { return name == current_ + suffix; };
    if (is_histogram ? !is("_bucket") && !is("_sum") && !is("_count") : !is(""))
      fail("among the lines of " + current_, line);
    if (types_.at(current_) == "counter" && !current_.ends_with("_total")) fail("a counter's name", line);
  }

  /// For each `…_bucket{…,le="…"}`: the next one has no less, and the last one is the count.
  void check_histogram(const std::string& series, double value) const {
    static const std::regex bucket{R"re(([a-z_]+)_bucket(\{?)(.*?),?le="([^"]*)"\})re"};
    std::smatch parts;
    if (!std::regex_match(series, parts, bucket)) return;
    const std::string labels = parts[3].length() == 0 ? "" : "{" + parts[3].str() + "}";
    const double all = values_.at(parts[1].str() + "_count" + labels);
    if (!has(parts[1].str() + "_sum" + labels)) fail("a histogram without a sum", series);
    if (parts[4] == "+Inf" ? value != all : value > all) fail("a bucket's count", series);
  }

  std::string current_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> values_;
};

}  // namespace redlock::testing
