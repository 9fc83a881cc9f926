// What redlock run tells people while it waits, where stderr is no terminal. terminal_test.cpp has a terminal.
#include "tool/run/progress.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <stop_token>
#include <string>

#include "redlock/node_report.hpp"
#include "support/catch.hpp"
#include "testing/fd.hpp"

using namespace std::chrono_literals;
using redlock::Clock;
using redlock::Errc;
using redlock::Holder;
using redlock::Observer;
using redlock::testing::detail::Fd;
using redlock::tool::Progress;
using redlock::tool::Verbosity;

namespace {

/// Collects what is written to std::cerr, and makes stderr no terminal.
class CollectedErrors {
 public:
  CollectedErrors() {
    const Fd nothing{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    ::dup2(nothing.get(), STDERR_FILENO);
  }
  ~CollectedErrors() {
    std::cerr.rdbuf(before_);
    ::dup2(stderr_.get(), STDERR_FILENO);
  }
  CollectedErrors(const CollectedErrors&) = delete;
  CollectedErrors& operator=(const CollectedErrors&) = delete;

  /// What was written since the last call.
  std::string take() {
    std::string text = text_.str();
    text_.str({});
    return text;
  }

 private:
  const Fd stderr_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
  std::ostringstream text_;
  std::streambuf* const before_ = std::cerr.rdbuf(text_.rdbuf());
};

struct Waiting {
  /// A failed attempt after this time.
  void attempt_after(Clock::duration time, Errc failure = Errc::held,
                     Observer::Kind kind = Observer::Kind::exclusive) {
    now += time;
    Holder holder{std::string(40, 'a') + " web3:4711 @1795442531"};
    holder.ttl = 23s;
    progress.attempted({.resource = "backup", .kind = kind, .failure = failure, .holder = holder});
  }

  /// Stands at this place in line after this time.
  void place_after(Clock::duration time, std::uint64_t position, Observer::LineStep step) {
    now += time;
    progress.lined_up({.resource = "backup", .step = step, .position = position, .length = 9});
  }

  Clock::time_point now{1h};
  CollectedErrors errors;
  Progress progress{{"backup"}, Verbosity::normal, nullptr, [this] { return now; }};
};

const std::string line =
    "redlock: waiting for backup: held by web3:4711 since 2026-11-23 14:02:11 UTC, 23.0 s left\n";

}  // namespace

TEST_CASE("a_wait_for_a_seat_names_no_holder_of_another_one") {
  Waiting waiting;
  for (const Clock::duration time : {0ms, 1000ms})
    waiting.attempt_after(time, Errc::held, Observer::Kind::seat);
  CHECK(waiting.errors.take() == "redlock: waiting for backup: all seats are taken\n");
  waiting.place_after(60s, 1, Observer::LineStep::entered);
  CHECK(waiting.errors.take() == "redlock: waiting for backup: 1st in line\n");
}

TEST_CASE("a_wait_is_reported_after_a_second_and_then_once_a_minute") {
  Waiting f;
  f.attempt_after(0s);
  f.attempt_after(900ms);
  CHECK(f.errors.take().empty());
  f.attempt_after(100ms);
  CHECK(f.errors.take() == line);
  for (int count = 0; count < 59; ++count) f.attempt_after(1s);
  CHECK(f.errors.take().empty());
  f.attempt_after(1s);
  CHECK(f.errors.take() == line);
  f.attempt_after(5min);
  CHECK(f.errors.take() == line);
}

TEST_CASE("a_wait_for_nodes_says_so_and_the_end_of_a_wait_ends_the_reports") {
  Waiting f;
  f.attempt_after(0s, Errc::no_quorum);
  f.attempt_after(1s, Errc::no_quorum);
  CHECK(f.errors.take() == "redlock: waiting for backup: too few nodes vote\n");
  f.progress.end({});
  f.attempt_after(1min);
  CHECK(f.errors.take().empty());
}

TEST_CASE("the_place_in_line_is_reported_with_who_has_the_lock") {
  using Step = Observer::LineStep;
  Waiting f;
  int asked = 0;
  f.progress.ask_by([&](const std::string&) {
    ++asked;
    return Holder{std::string(40, 'b') + " web7:1 @1795442531"};
  });
  f.attempt_after(0s);
  f.place_after(0s, 3, Step::entered);
  CHECK(f.errors.take().empty());
  f.place_after(1s, 3, Step::waiting);
  CHECK(f.errors.take() ==
        "redlock: waiting for backup: 3rd in line, held by web3:4711 since 2026-11-23 14:02:11 UTC\n");
  f.place_after(59s, 2, Step::waiting);
  CHECK(f.errors.take().empty());
  CHECK(asked == 0);  // only when something is written
  f.place_after(1s, 2, Step::waiting);
  CHECK(f.errors.take() ==
        "redlock: waiting for backup: 2nd in line, held by web7:1 since 2026-11-23 14:02:11 UTC\n");
  CHECK(asked == 1);
  f.place_after(1s, 0, Step::left);
  f.attempt_after(1min);
  CHECK(f.errors.take() == line);
}

TEST_CASE("of_several_locks_the_one_that_is_waited_for_is_reported") {
  using Step = Observer::LineStep;
  Clock::time_point now{1h};
  CollectedErrors errors;
  Progress progress{{"b", "a"}, Verbosity::normal, nullptr, [&now] { return now; }};
  const auto place = [&](const std::string& resource, std::uint64_t position, Step step) {
    now += 1min;
    progress.lined_up({.resource = resource, .step = step, .position = position, .length = 9});
    return errors.take();
  };
  progress.ask_by([](const std::string& resource) {
    return Holder{std::string(40, 'b') + " holder of " + resource + " @1795442531"};
  });
  progress.attempted({.resource = "a", .failure = Errc::held});  // given back because of b
  CHECK(place("a", 1, Step::entered).empty());
  CHECK(
      place("a", 1, Step::waiting).starts_with("redlock: waiting for a: 1st in line, held by holder of a "));
  CHECK(
      place("b", 2, Step::entered).starts_with("redlock: waiting for b: 2nd in line, held by holder of b "));
  CHECK(place("a", 1, Step::waiting).empty());
  CHECK(place("b", 0, Step::left).empty());
  CHECK(
      place("a", 2, Step::waiting).starts_with("redlock: waiting for a: 2nd in line, held by holder of a "));
}

TEST_CASE("a_wait_is_ended_when_attempts_have_found_no_quorum_for_long_enough") {
  Waiting f;
  const std::stop_source wait;
  f.progress.end_without_quorum(wait, 10s);
  f.attempt_after(0s, Errc::no_quorum);
  f.attempt_after(9s, Errc::no_quorum);
  f.attempt_after(900ms, Errc::held);
  f.attempt_after(1s, Errc::no_quorum);
  f.attempt_after(9s, Errc::no_quorum);
  CHECK_FALSE(wait.stop_requested());
  f.attempt_after(1s, Errc::no_quorum);
  CHECK(wait.stop_requested());
}
