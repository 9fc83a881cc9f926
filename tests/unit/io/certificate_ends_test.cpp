#include "io/tls/certificate_ends.hpp"

#include <chrono>

#include "support/catch.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::core::Time;
using redlock::detail::CertificateEnds;
using redlock::testing::RecordingObserver;
using std::chrono::days;
using std::chrono::sys_seconds;

constexpr sys_seconds today{days{20'000}};
constexpr Time begin{1h};

struct Watch {
  void note(std::size_t node, sys_seconds end, Time now = begin, sys_seconds wall_now = today) {
    ends.note(node, {.node = "n" + std::to_string(node), .end = end}, now, wall_now, observer);
  }
  void note_own(std::size_t node, sys_seconds end) {
    ends.note(node, {.node = "n" + std::to_string(node), .end = end, .is_own = true}, begin, today, observer);
  }
  RecordingObserver observer;
  CertificateEnds ends{2};
};

}  // namespace

TEST_CASE("a_certificate_is_reported_once_however_often_it_is_seen") {
  Watch watch;
  watch.note(0, today + days{90});
  watch.note(0, today + days{90});
  watch.note(1, today + days{30});
  watch.ends.on_time(begin + days{59}, watch.observer);
  const auto seen = watch.observer.certificates();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].node == "n0");
  CHECK(seen[0].end == today + days{90});
  CHECK_FALSE(seen[0].ends_soon);
  CHECK(seen[1].ends_soon);
}

TEST_CASE("a_certificate_that_comes_to_end_soon_is_reported_again_unless_it_was_replaced") {
  Watch watch;
  watch.note(0, today + days{90});
  watch.note(1, today + days{91});
  watch.note(1, today + days{900});
  watch.ends.on_time(begin + days{61}, watch.observer);
  watch.ends.on_time(begin + days{62}, watch.observer);
  const auto seen = watch.observer.certificates();
  REQUIRE(seen.size() == 4);
  CHECK(seen[3].node == "n0");
  CHECK(seen[3].ends_soon);
}

TEST_CASE("a_certificate_without_end_does_not_end_soon") {
  Watch watch;
  watch.note(0, sys_seconds{253'402'300'799s});  // in the year 9999
  watch.ends.on_time(begin + days{30'000}, watch.observer);
  CHECK(watch.observer.certificates().size() == 1);
  CHECK_FALSE(watch.observer.certificates()[0].ends_soon);
}

TEST_CASE("the_client_s_certificate_is_reported_beside_the_server_s") {
  Watch watch;
  for (int connection = 0; connection < 2; ++connection) {
    watch.note(0, today + days{90});
    watch.note_own(0, today + days{80});
    watch.note_own(1, today + days{20});
  }
  watch.ends.on_time(begin + days{50}, watch.observer);
  const auto seen = watch.observer.certificates();
  REQUIRE(seen.size() == 4);
  CHECK_FALSE(seen[0].is_own);
  for (std::size_t at = 1; at < seen.size(); ++at) CHECK(seen[at].is_own);
  CHECK_FALSE(seen[1].ends_soon);
  CHECK(seen[2].node == "n1");
  CHECK(seen[2].ends_soon);
  CHECK(seen[3].node == "n0");
  CHECK(seen[3].end == today + days{80});
  CHECK(seen[3].ends_soon);
}
