// Descriptors: their number while connections break, refusals by the kernel, and their release.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/error.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"
#include "support/recording_observer.hpp"
#include "testing/fd.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

const redlock::LockOptions lasting{.ttl = 60s};
/// Per client: two for wake-ups, a timer, and the kernel's list of what is polled.
constexpr std::size_t own_descriptors = 4;

/// Occupies the lowest free descriptors, so that all later ones are higher.
class Placeholders {
 public:
  Placeholders() {
    for (detail::Fd& place : places_) place = detail::Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  }
  [[nodiscard]] rlim_t end() const { return static_cast<rlim_t>(places_.back().get()) + 1; }

 private:
  std::array<detail::Fd, 16> places_;  // poll() refuses longer lists than the limit
};

/// The process cannot open any descriptor until the destructor.
class NoMoreDescriptors {
 public:
  explicit NoMoreDescriptors(const Placeholders& taken) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{taken.end(), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("connections_that_keep_breaking_use_no_more_descriptors") {
  LocalNodes nodes{3};
  const std::size_t before = count_descriptors();
  {
    InspectableLock locks{endpoints(nodes)};
    std::atomic<bool> over{false};
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&, name = "resource " + std::to_string(caller)] {
        while (!over) static_cast<void>(locks.try_lock(name, lasting));
      });
    std::size_t most = 0;
    for (int round = 0; round < 12; ++round) {
      const int victim = round % 3;
      nodes.kill(victim);
      most = std::max(most, count_descriptors());
      nodes.restart_empty(victim);
      most = std::max(most, count_descriptors());
    }
    over = true;
    callers.clear();
    // Each connection, and the previous one, which is still read to its end.
    CHECK(most <= before + own_descriptors + 2 * 3);
    CHECK(eventually([&] { return locks.ready_nodes() == 3; }));
    CHECK(eventually([&] { return count_descriptors() == before + own_descriptors + 3; }));
  }
  CHECK(count_descriptors() == before);
}

TEST_CASE("reconnecting_to_a_dead_node_uses_no_more_descriptors") {
  LocalNodes nodes{3};
  const std::size_t before = count_descriptors();
  {
    InspectableLock locks{endpoints(nodes)};
    REQUIRE(is_granted(locks.try_lock("resource", lasting)));
    nodes.kill(0);
    for (int cycle = 0; cycle < 200; ++cycle) {
      REQUIRE(is_granted(locks.try_lock("resource", lasting)));
      REQUIRE(count_descriptors() <= before + own_descriptors + 3 + 1);
      std::this_thread::sleep_for(2ms);
    }
  }
  CHECK(count_descriptors() == before);
}

TEST_CASE("a_process_without_descriptors_gets_an_error_and_continues_when_some_are_free") {
  LocalNodes nodes{3};
  const Placeholders taken;
  Proxies proxies{nodes};
  InspectableLock locks{proxies.endpoints()};
  REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  for (auto& proxy : proxies) proxy->cut();
  {
    const NoMoreDescriptors none{taken};
    const auto is_told = [](const redlock::NodeReport& report) {
      return report.status == redlock::NodeStatus::unreachable &&
             report.message.find("Too many open files") != std::string::npos;
    };
    CHECK(eventually([&] { return std::ranges::all_of(locks.inspect("resource"), is_told); }));
    CHECK(locks.try_lock("resource", lasting).code() == redlock::Errc::no_quorum);
    std::this_thread::sleep_for(300ms);  // the background thread tries as well
  }
  CHECK(eventually([&] { return is_granted(locks.try_lock("resource", lasting)); }));
}

TEST_CASE("an_observer_does_not_prevent_locking_when_there_are_no_descriptors") {
  LocalNodes nodes{3};
  const Placeholders taken;
  const auto recorder = std::make_shared<RecordingObserver>();
  {
    InspectableLock locks{endpoints(nodes), {.observer = recorder}};
    static_cast<void>(locks.inspect("resource"));  // connects
    REQUIRE(locks.ready_nodes() == 3);
    const NoMoreDescriptors none{taken};
    auto lease = locks.try_lock("resource", {.ttl = 1s, .renewal = redlock::Renewal::none});
    REQUIRE(lease);
    REQUIRE(eventually([&] { return !lease->valid(); }));
    const auto refused = locks.try_lock("notified", {.on_lost = [](redlock::Loss) {}});  // needs a timer
    CHECK(refused.code() == std::errc::too_many_files_open);
    CHECK_THAT(refused.message(), Catch::Matchers::StartsWith("Too many open files"));
  }
  REQUIRE(recorder->holds().size() == 1);  // no call has returned the other lease
  CHECK(recorder->holds()[0].resource == "resource");
  CHECK(recorder->holds()[0].loss == redlock::Loss::deadline_passed);  // reported by the release
}
