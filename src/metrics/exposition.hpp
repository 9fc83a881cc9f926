// Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/clock.hpp"

namespace redlock::inline v1::detail {

/// Returns `name="value"`, escaped. Bytes that are not UTF-8 become U+FFFD, because a single one would make the
/// whole text invalid, and so do those of characters that control a terminal or are not shown.
[[nodiscard]] std::string label(std::string_view name, std::string_view value);

/// One metric: its values by labels. Make the labels with `label` and join them with commas.
class Counter {
 public:
  void add(const std::string& labels, std::uint64_t more = 1) { values_[labels] += more; }
  void set(const std::string& labels, std::uint64_t value) { values_[labels] = value; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& values() const noexcept { return values_; }

 private:
  std::map<std::string, std::uint64_t> values_;
};

/// A histogram of numbers, or of durations in seconds.
class Histogram {
 public:
  struct Series {
    std::vector<std::uint64_t> counts;  // by the first bound not exceeded; the last: above all bounds
    double sum = 0;
  };

  /// `bounds`: in ascending order. The array must outlive this object.
  explicit Histogram(std::span<const double> bounds) noexcept : bounds_{bounds} {}

  void observe(const std::string& labels, double number);
  void observe(const std::string& labels, Clock::duration time) {
    observe(labels, std::chrono::duration<double>{time}.count());
  }
  [[nodiscard]] std::span<const double> bounds() const noexcept { return bounds_; }
  [[nodiscard]] const std::map<std::string, Series>& series() const noexcept { return series_; }

 private:
  std::span<const double> bounds_;
  std::map<std::string, Series> series_;
};

/// Builds the text, metric by metric. Omits metrics that have no values yet.
class Exposition {
 public:
  /// `labels` are added to every line.
  explicit Exposition(std::string labels) : labels_{std::move(labels)} {}

  void add(std::string_view name, std::string_view help, const Counter&, std::string_view type = "counter");
  void add(std::string_view name, std::string_view help, const Histogram&);
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  void head(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view name, std::string_view suffix, const std::string& labels,
            std::string_view value);

  std::string labels_;
  std::string text_;
};

}  // namespace redlock::inline v1::detail
