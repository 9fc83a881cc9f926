// Nothing that a hostile node says can control a terminal, break a line, or look like another text.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "integration/hostile/beset_client.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;

/// Printable ASCII. The attacks contain no other character that may be shown as it is.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte >= ' ' && byte <= '~'; });
}

/// A text of one line, and then one for each node.
void check_lines(const std::string& text, std::ptrdiff_t nodes) {
  CAPTURE(text);
  CHECK(std::ranges::count(text, '\n') <= nodes);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) CHECK(is_plain(line));
}

template <class Value>
void check_line(const Value& value) {
  std::ostringstream text;
  text << value;
  check_lines(text.str(), 0);
}

void check_reports(std::span<const redlock::NodeReport> reports) {
  for (const redlock::NodeReport& report : reports) {
    check_line(report);
    check_lines(report.message, 0);
    if (report.owner) check_line(redlock::Holder{*report.owner});
  }
}

void check_events(const RecordingObserver& observer) {
  for (const auto& node : observer.nodes()) check_lines(node.message, 0);
  for (const auto& attempt : observer.attempts())
    if (attempt.holder) check_line(*attempt.holder);
}

}  // namespace

TEST_CASE("errors_reports_events_and_warnings_about_a_hostile_node_are_printable") {
  FiveNodes five;
  for (const Attack& attack : five.attacks()) {
    INFO("attack: " << attack.name);
    Proxy proxy{five.nodes.port(0)};
    const auto observer = std::make_shared<RecordingObserver>();
    std::mutex mutex;
    std::vector<std::string> warnings;
    const auto note = [&](std::string_view warning) {
      const std::lock_guard lock{mutex};
      warnings.emplace_back(warning);
    };
    proxy.rewrite({});
    attack.begin(proxy);
    {
      redlock::SingleNodeLock locks{
          proxy.url(),
          {.connect_timeout = 100ms, .node_timeout = 30ms, .on_warning = note, .observer = observer}};
      for (int call = 0; call < 3; ++call) {
        const redlock::LockResult result = locks.try_lock("r");
        check_lines(result.message(), 1);
        check_reports(result.nodes());
        check_reports(locks.inspect("r"));
      }
      const redlock::LockResult waited = locks.try_lock_for("r", 50ms);
      check_lines(waited.message(), 1);
    }
    check_events(*observer);
    for (const std::string& warning : warnings) check_lines(warning, 0);
  }
}
