#include "benchmark/waiting/plot.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "support/svg.hpp"

namespace redlock::benchmark {
namespace {

namespace svg = testing::svg;

constexpr int width = 860;
constexpr int height = 430;
constexpr int top = 64;
constexpr int bottom = 340;
constexpr int panel_width = 340;
constexpr int indent = 14;  // of the curves in a panel

constexpr const char* frame_look = R"(stroke="#bbb" fill="none")";
constexpr const char* trip_look = R"(stroke="#777" stroke-width="1.5" stroke-dasharray="2 4" fill="none")";
const std::string fifo_look = R"(stroke="#36c" stroke-width="2" fill="none")";
const std::string none_look = R"(stroke="#b3261e" stroke-width="2" fill="none")";
const std::string dashed = R"( stroke-dasharray="7 4")";

/// Where a value stands on a logarithmic axis.
struct Axis {
  double least;
  double most;
  int from;
  int to;
  [[nodiscard]] int at(double value) const {
    return from +
           static_cast<int>(std::lround(std::log(value / least) / std::log(most / least) * (to - from)));
  }
};

/// Whole decades around all times.
Axis times_of(const Contention& table) {
  double least = table.round_trip_us;
  double most = least;
  for (const ContentionRow& row : table.rows) {
    least = std::min(least, row.p50_us);
    most = std::max(most, row.p99_us);
  }
  return {std::pow(10, std::floor(std::log10(least))), std::pow(10, std::ceil(std::log10(most))), bottom,
          top};
}

Axis counts_of(const Contention& table, int left) {
  const auto [least, most] = std::minmax_element(
      table.rows.begin(), table.rows.end(),
      [](const ContentionRow& one, const ContentionRow& other) { return one.count < other.count; });
  const double first = least->count;
  return {first, std::max<double>(most->count, 2 * first), left + indent, left + panel_width - indent};
}

std::string time_name(double us) {
  const auto whole = [](double number) { return std::to_string(std::lround(number)); };
  if (us < 1000) return whole(us) + " µs";
  return us < 1'000'000 ? whole(us / 1000) + " ms" : whole(us / 1'000'000) + " s";
}

/// All waiters of one kind.
class Panel {
 public:
  Panel(const Contention& table, std::string waiters, int left)
      : table_{table},
        waiters_{std::move(waiters)},
        left_{left},
        x_{counts_of(table, left)},
        y_{times_of(table)} {}

  [[nodiscard]] std::string drawn() const {
    const int trip = y_.at(table_.round_trip_us);
    return axes() + svg::group(trip_look, svg::line(left_, trip, left_ + panel_width, trip)) +
           curve(none_look, "none", &ContentionRow::p50_us) +
           curve(none_look + dashed, "none", &ContentionRow::p99_us) +
           curve(fifo_look, "fifo", &ContentionRow::p50_us) +
           curve(fifo_look + dashed, "fifo", &ContentionRow::p99_us);
  }

 private:
  [[nodiscard]] std::string axes() const {
    std::string lines = svg::rect(left_, top, panel_width, bottom - top);
    std::string times;
    std::string counts;
    for (double us = y_.least; us < y_.most * 1.5; us *= 10) {
      lines += svg::line(left_, y_.at(us), left_ + panel_width, y_.at(us));
      times += svg::text(left_ - 6, y_.at(us) + 4, time_name(us));
    }
    for (const ContentionRow& row : table_.rows)
      if (row.waiters == waiters_ && row.order == "fifo")
        counts += svg::text(x_.at(row.count), bottom + 18, std::to_string(row.count));
    const int middle = left_ + panel_width / 2;
    return svg::group(frame_look, lines) +
           svg::group(R"(text-anchor="end" font-size="12" fill="#333")", times) +
           svg::group(R"(text-anchor="middle" font-size="12" fill="#333")",
                      counts + svg::text(middle, bottom + 38, "waiting " + waiters_)) +
           svg::group(
               R"(text-anchor="middle" font-size="14" font-weight="bold" fill="#222")",
               svg::text(middle, top - 10, waiters_ == "threads" ? "threads of one client" : waiters_));
  }

  [[nodiscard]] std::string curve(const std::string& look, std::string_view order,
                                  double ContentionRow::*figure) const {
    std::string points;
    for (const ContentionRow& row : table_.rows)
      if (row.waiters == waiters_ && row.order == order)
        points +=
            (points.empty() ? "M" : "L") + svg::num(x_.at(row.count)) + " " + svg::num(y_.at(row.*figure));
    return svg::group(look, svg::path(points));
  }

  const Contention& table_;
  const std::string waiters_;
  const int left_;
  const Axis x_;
  const Axis y_;
};

std::string legend() {
  constexpr int y = height - 22;
  std::string signs;
  std::string words;
  const auto entry = [&](int x, const std::string& look, const std::string& meaning) {
    signs += svg::group(look, svg::line(x, y, x + 30, y));
    words += svg::text(x + 36, y + 4, meaning);
  };
  entry(70, fifo_look, "in line, median");
  entry(215, fifo_look + dashed, "in line, p99");
  entry(345, none_look, "polling, median");
  entry(495, none_look + dashed, "polling, p99");
  entry(630, trip_look, "round trip to a majority");
  return signs + svg::group(R"(font-size="12" fill="#333")", words);
}

}  // namespace

std::string svg_plot(const Contention& table) {
  const std::string title = "From the release until the next one holds the lock";
  return svg::picture(
      width, height, title + ", over the number of those who wait", "",
      svg::group(R"(font-size="16" font-weight="bold" fill="#222")", svg::text(70, 28, title)) +
          Panel{table, "processes", 70}.drawn() + Panel{table, "threads", 500}.drawn() + legend());
}

}  // namespace redlock::benchmark
