// A strict reader of Prometheus' text format.
#pragma once

#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "redlock/core/base/printable.hpp"

namespace redlock::testing {

/// The values in a text. Throws `std::runtime_error` if the text violates version 0.0.4 of the format or
/// these rules: every line is printable and ends with a line feed, every metric has one HELP and one TYPE before its
/// first line, no line and no label of a line appears twice, there are no timestamps and no negative values, and the
/// buckets of a histogram ascend up to +Inf, which has its total count.
class MetricsText {
 public:
  explicit MetricsText(const std::string& text) {
    if (!text.empty() && text.back() != '\n') fail("the last line has no line feed", text);
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) read(line);
    for (const auto& [histogram, buckets] : buckets_) check(histogram, buckets);
  }

  /// The value of the line with this name and these labels: `name{a="b"}`. Throws `std::out_of_range` if
  /// there is none.
  [[nodiscard]] double operator[](const std::string& series) const { return values_.at(series); }
  [[nodiscard]] bool has(const std::string& series) const { return values_.count(series) != 0; }
  [[nodiscard]] const std::map<std::string, double>& values() const noexcept { return values_; }
  /// `counter`, `gauge` or `histogram`.
  [[nodiscard]] const std::string& type(const std::string& metric) const { return types_.at(metric); }

 private:
  /// What follows the name in a line.
  struct Labels {
    std::string others;  // without the bound
    std::string bound;   // of a bucket
    bool has_bound = false;
  };
  /// The last bucket of a histogram that was read.
  struct Bucket {
    double bound = -1;
    double count = 0;
    bool is_last = false;  // +Inf
  };

  [[noreturn]] static void fail(const std::string& what, const std::string& where) {
    throw std::runtime_error{what + ": " + where};
  }
  static bool skip(std::string_view& rest, std::string_view expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(expected.size());
    return true;
  }
  template <class Wanted>
  static std::string take(std::string_view& rest, Wanted wanted) {
    std::size_t size = 0;
    while (size < rest.size() && wanted(static_cast<unsigned char>(rest[size]))) ++size;
    std::string taken{rest.substr(0, size)};
    rest.remove_prefix(size);
    return taken;
  }
  static std::string take_name(std::string_view& rest) {
    return take(rest, [](unsigned char c) { return std::islower(c) != 0 || c == '_'; });
  }

  void read(const std::string& line) {
    if (core::printable(line, line.size()) != line) fail("an unprintable line", line);
    std::string_view rest{line};
    if (skip(rest, "# HELP ")) {
      current_ = take_name(rest);
      if (current_.empty() || !skip(rest, " ") || rest.empty() || rest.find('\\') != rest.npos)
        fail("a malformed HELP", line);
      if (!helps_.insert(current_).second) fail("a second HELP", line);
    } else if (skip(rest, "# TYPE ")) {
      if (take_name(rest) != current_ || !skip(rest, " ")) fail("a misplaced TYPE", line);
      if (rest != "counter" && rest != "gauge" && rest != "histogram") fail("an unknown TYPE", line);
      if (!types_.emplace(current_, rest).second) fail("a second TYPE", line);
    } else {
      read_value(line);
    }
  }

  void read_value(const std::string& line) {
    std::string_view rest{line};
    const std::string name = take_name(rest);
    check_name(name, line);
    const Labels labels = take_labels(rest, line);
    const std::string series = line.substr(0, line.size() - rest.size());
    if (!skip(rest, " ")) fail("a malformed line", line);
    const std::string number{rest};
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (take(rest, is_digit).empty() || (skip(rest, ".") && take(rest, is_digit).empty()) || !rest.empty())
      fail("a malformed number", line);
    const double value = std::stod(number);
    if (!values_.emplace(series, value).second) fail("a duplicate line", line);
    if (labels.has_bound != name.ends_with("_bucket")) fail("a misplaced label le", line);
    if (labels.has_bound) add_bucket(labels, value, line);
  }

  static Labels take_labels(std::string_view& rest, const std::string& line) {
    Labels labels;
    std::set<std::string> names;
    for (bool is_first = true; skip(rest, is_first ? "{" : ","); is_first = false) {
      const std::string name = take(rest, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
      if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
          !names.insert(name).second || !skip(rest, "=\""))
        fail("a malformed label", line);
      std::string value = take_value(rest, line);
      if (name == "le") {
        labels.has_bound = true;
        labels.bound = std::move(value);
      } else {
        labels.others += (labels.others.empty() ? "" : ",") + name + "=\"" + value + '"';
      }
    }
    if (!names.empty() && !skip(rest, "}")) fail("labels without an end", line);
    return labels;
  }
  /// Takes a label's value as it is written, and the quotation mark behind it.
  static std::string take_value(std::string_view& rest, const std::string& line) {
    std::string value;
    while (!skip(rest, "\"")) {
      value += take(rest, [](unsigned char c) { return c != '"' && c != '\\'; });
      if (!rest.starts_with('\\')) {
        if (rest.empty()) fail("a label without an end", line);
        continue;
      }
      const std::string_view escaped = rest.substr(0, 2);
      if (escaped != "\\\\" && escaped != "\\\"" && escaped != "\\n") fail("a wrong escape", line);
      value += escaped;
      rest.remove_prefix(escaped.size());
    }
    return value;
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

  void add_bucket(const Labels& labels, double count, const std::string& line) {
    Bucket& last = buckets_[{current_, labels.others}];
    const bool is_last = labels.bound == "+Inf";
    const double bound = is_last ? last.bound + 1 : std::stod(labels.bound);
    if (last.is_last || bound <= last.bound || count < last.count) fail("a misplaced bucket", line);
    last = {bound, count, is_last};
  }
  void check(const std::pair<std::string, std::string>& histogram, const Bucket& last) const {
    const auto& [name, others] = histogram;
    const std::string labels = others.empty() ? "" : "{" + others + "}";
    if (!last.is_last) fail("a histogram without the bucket +Inf", name + labels);
    if (!has(name + "_sum" + labels) || !has(name + "_count" + labels))
      fail("an incomplete histogram", name + labels);
    if (values_.at(name + "_count" + labels) != last.count) fail("a wrong count", name + labels);
  }

  std::string current_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> values_;
  std::map<std::pair<std::string, std::string>, Bucket> buckets_;  // by metric and labels
};

}  // namespace redlock::testing
