// Whatever names, labels and events there are: the metrics are a valid text, printable and bounded, and say nothing of
// resources, holders and messages.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "fuzz/choices.hpp"
#include "fuzz/finding.hpp"
#include "redlock/error.hpp"
#include "redlock/metrics/prometheus.hpp"
#include "support/metrics_text.hpp"

namespace {

using namespace redlock::testing;
using redlock::Observer;
using redlock::Prometheus;

/// Metrics of arbitrary events, and the same ones of other resources, holders and messages.
class FuzzedMetrics {
 public:
  explicit FuzzedMetrics(Choices& choices) : choices_{choices} {
    std::map<std::string, std::string> labels;
    for (std::size_t count = choices_.below(3); count > 0; --count) {
      std::string name = word();
      labels[name] = word();
    }
    for (const auto& [name, value] : labels) label_bytes_ += name.size() + 3 * value.size() + 4;
    metrics_ = make(labels);
    if (!metrics_) return;
    others_ = make(labels);
    while (!choices_.empty()) step();
    check();
  }

 private:
  static std::unique_ptr<Prometheus> make(const std::map<std::string, std::string>& labels) try {
    return std::make_unique<Prometheus>(labels);
  } catch (const redlock::Error& refusal) {
    const std::string_view message = refusal.what();
    must(refusal.code() == redlock::Errc::invalid_argument, "a refused name is an invalid argument");
    must(is_printable(message) && message.size() < 1000, "a refusal is short and printable");
    must(message.find("letters, digits and _") != message.npos, "a refusal says what is allowed");
    return nullptr;
  }

  std::string word() {
    const std::size_t size = choices_.next();
    return std::string{choices_.take(size & 1 ? size % 128 : size % 8)};
  }
  redlock::Clock::duration time() {
    constexpr std::array<redlock::Clock::rep, 8> some{0,
                                                      1,
                                                      999'999,
                                                      1'000'000,
                                                      2'500'000'001,
                                                      3'600'000'000'000,
                                                      31'536'000'000'000'000,
                                                      std::numeric_limits<redlock::Clock::rep>::max()};
    return redlock::Clock::duration{some.at(choices_.below(some.size()))};
  }
  std::optional<redlock::NodeStatus> trouble() {
    const std::size_t choice = choices_.below(28);
    return choice == 0 ? std::nullopt : std::optional{static_cast<redlock::NodeStatus>(choice - 1)};
  }

  template <class Event>
  void report(void (Observer::*kind)(const Event&), Event event) {
    (metrics_.get()->*kind)(event);
    if constexpr (requires { event.resource; }) event.resource = "another";
    if constexpr (requires { event.holder; }) event.holder.reset();
    if constexpr (requires { event.message; }) event.message.clear();
    (others_.get()->*kind)(event);
  }

  void step() {
    const std::size_t choice = choices_.next();
    const auto kind = static_cast<Observer::Kind>(choice / 9 % kinds);
    switch (choice % 9) {
      case 0:
        return report(&Observer::attempted, {.resource = word(),
                                             .kind = kind,
                                             .failure = failure(),
                                             .took = time(),
                                             .second_round = choices_.below(2) == 1,
                                             .holder = redlock::Holder{word()}});
      case 1:
        return report(&Observer::waited,
                      {.resource = word(), .kind = kind, .failure = failure(), .waited = time()});
      case 2:
        return report(&Observer::lined_up, {.resource = word(),
                                            .kind = kind,
                                            .step = static_cast<Observer::LineStep>(choices_.below(6)),
                                            .position = static_cast<std::uint64_t>(time().count()),
                                            .waited = time()});
      case 3:
        return report(&Observer::ended, {.resource = word(),
                                         .kind = kind,
                                         .held = time(),
                                         .validity_left = time(),
                                         .release = static_cast<redlock::Release>(choices_.below(3)),
                                         .loss = static_cast<redlock::Loss>(choices_.below(7))});
      case 4:
        return report(&Observer::extended, {.resource = word(),
                                            .kind = kind,
                                            .state = static_cast<redlock::State>(choices_.below(4)),
                                            .took = time(),
                                            .late = time()});
      case 5:
        return report(&Observer::node_changed, {.node = node(),
                                                .state = static_cast<Observer::NodeState>(choices_.below(4)),
                                                .trouble = trouble(),
                                                .message = word(),
                                                .reconnected = choices_.below(2) == 1});
      case 6:
        return report(&Observer::certificate_seen,
                      {.node = node(),
                       .end = std::chrono::sys_seconds{std::chrono::seconds{time().count()}},
                       .is_own = choice / 9 % 2 == 1});
      case 7:
        return report(&Observer::broken, {.resource = word(), .kind = kind, .copies = choices_.below(9)});
      default:
        for (Prometheus* const each : {metrics_.get(), others_.get()}) each->dropped(choice);
    }
  }
  std::optional<redlock::Errc> failure() {
    const std::size_t choice = choices_.below(9);
    return choice == 0 ? std::nullopt : std::optional{static_cast<redlock::Errc>(choice)};
  }
  std::string node() {
    std::string name = word();
    longest_node_ = std::max(longest_node_, name.size());
    ++node_events_;
    return name;
  }

  void check() const {
    const std::string text = metrics_->text();
    try {
      const MetricsText read{text};
      must(read.values().size() <= most_lines(),
           "there are few lines for each node, and else a fixed number");
    } catch (const std::runtime_error& malformed) {
      must(false, malformed.what());
    }
    must(text.size() <= (most_lines() + 40) * (150 + label_bytes_ + 3 * longest_node_), "a line is not long");
    must(metrics_->text() == text, "reading changes nothing");
    must(others_->text() == text, "resources, holders and messages are not shown");
  }
  /// Of all histograms with all their outcomes, for each kind of lock, and of the nodes.
  [[nodiscard]] std::size_t most_lines() const { return 500 * kinds + 5 * node_events_; }

  static constexpr std::size_t kinds = 4;

  Choices& choices_;
  std::unique_ptr<Prometheus> metrics_;
  std::unique_ptr<Prometheus> others_;
  std::size_t label_bytes_ = 0;
  std::size_t longest_node_ = 0;
  std::size_t node_events_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices{{reinterpret_cast<const char*>(data), size}};
  FuzzedMetrics metrics{choices};
  return 0;
}
