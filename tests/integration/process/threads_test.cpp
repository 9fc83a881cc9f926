// A system that has no thread for the library.
#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <system_error>

#include "integration/support/observers.hpp"
#include "redlock/error.hpp"
#include "redlock/kinds/leases.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

/// No thread can be created, because its stack would be larger than all memory.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60U);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

const redlock::LockOptions kept{.ttl = 60s, .at_least = 60s};

}  // namespace

TEST_CASE("a_stop_token_that_could_not_be_had_gets_its_request_when_it_is_asked_for_again") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  const redlock::Lease lease =
      locks.try_lock_for("r", 30s, {.ttl = 5s, .renewal = redlock::Renewal::none}).value();
  {
    const NoMoreThreads none;
    CHECK_THROWS_AS(lease.stop_token(), std::system_error);
  }
  const std::stop_token stop = lease.stop_token();
  CHECK(eventually([&] { return stop.stop_requested(); }));
}

TEST_CASE("a_call_that_returns_no_lease_because_there_is_no_thread_keeps_no_lock_at_least") {
  LocalNodes nodes{3};
  InspectableLock other{endpoints(nodes)};
  std::error_code failure;
  const bool is_for_all = GENERATE(false, true);
  {
    InspectableLock locks{endpoints(nodes)};
    const NoMoreThreads none;
    failure = is_for_all ? locks.try_lock_all({"r", "s"}, kept).code() : locks.try_lock("r", kept).code();
  }
  CHECK(failure == std::errc::resource_unavailable_try_again);
  CHECK(is_granted(other.try_lock_for("r", 20s, {.ttl = 60s})));
}
