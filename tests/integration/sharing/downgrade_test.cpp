// A writer that becomes a reader.
#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::LockOptions;
using redlock::LockResult;
using redlock::Release;

const LockOptions reader{.ttl = 60s, .shared = true, .renewal = redlock::Renewal::none};
const LockOptions writer{.ttl = 60s, .renewal = redlock::Renewal::none};

}  // namespace

TEST_CASE("a_lease_that_is_over_is_not_downgraded_and_leaves_the_lock_to_its_adopter") {
  TwoClients f;
  Lease lease = f.locks.lock("r", writer).value();
  const auto handover = lease.orphan();
  REQUIRE(handover);
  CHECK(f.locks.downgrade(std::move(lease), reader).code() == Errc::lost);
  const LockResult adopted = f.others.adopt(*handover, writer);
  CAPTURE(adopted.message());
  CHECK(is_granted(adopted));
}

TEST_CASE("no_writer_has_the_lock_while_a_writer_becomes_a_reader") {
  TwoClients f;
  WaitingLine line{f.nodes, "r"};
  Lease first = f.locks.lock("r", writer).value();
  auto next = std::async(std::launch::async, [&] { return f.others.try_lock_for("r", 60s, writer); });
  REQUIRE(eventually([&] { return line.flags() == 3; }));
  const auto token = first.fencing_token();
  Lease lease = f.locks.downgrade(std::move(first), reader).value();
  CHECK(first.state() == redlock::State::released);  // NOLINT(bugprone-use-after-move)
  CHECK(lease.valid());
  CHECK(lease.fencing_token() > token);
  CHECK(lease.sequencer().is_shared());
  CHECK(f.others.check(lease.sequencer()) == redlock::SequencerState::valid);
  CHECK(next.wait_for(50ms) == std::future_status::timeout);
  CHECK(lease.extend());
  CHECK(lease.release() == Release::released);
  const LockResult second = next.get();
  REQUIRE(second);
  CHECK(second->fencing_token() > lease.fencing_token());
}

TEST_CASE("readers_join_a_writer_that_became_a_reader") {
  TwoClients f;
  Lease lease = f.locks.downgrade(f.locks.lock("r", writer).value(), writer).value();
  const Lease other = f.others.try_lock_for("r", 20s, reader).value();
  CHECK(lease.release() == Release::released);
  CHECK(f.locks.try_lock("r", writer).is_held());
  CHECK(other.valid());
}

TEST_CASE("a_lease_without_a_token_becomes_a_shared_one_with_a_token") {
  TwoClients f;
  const Lease lease =
      f.locks.downgrade(f.locks.lock("r", {.ttl = 60s, .fencing = false}).value(), reader).value();
  CHECK(lease.fencing_token());
  CHECK(f.others.try_lock("r", writer).is_held());
}

TEST_CASE("a_writer_that_lost_its_lock_becomes_no_reader") {
  TwoClients f;
  const bool is_known = GENERATE(true, false);
  Lease lost = f.locks.lock("r", writer).value();
  REQUIRE(eventually([&] { return f.servers.having("r") == 3; }));
  f.servers.command({"SET", "r", "somebody"});
  if (is_known) CHECK_FALSE(lost.extend());
  CHECK(f.locks.downgrade(std::move(lost), reader).code() == Errc::lost);
  CHECK(f.servers.holding("r", "somebody") == 3);
  CHECK(f.servers.having("redlock:s:{r}") == 0);
}

TEST_CASE("a_writer_whose_lock_was_deleted_becomes_no_reader") {
  TwoClients f;
  Lease deleted = f.locks.lock("r", writer).value();
  REQUIRE(eventually([&] { return f.servers.having("r") == 3; }));
  f.servers.command({"DEL", "r"});
  CHECK(f.locks.downgrade(std::move(deleted), reader).code() == Errc::lost);
  CHECK(f.servers.having("r") == 0);
  CHECK(f.servers.having("redlock:s:{r}") == 0);
}

TEST_CASE("a_downgrade_of_a_lost_lease_does_not_end_its_lock_delay") {
  TwoClients f;
  Lease lost = f.locks.lock("r", {.ttl = 50ms, .lock_delay = 50s, .renewal = redlock::Renewal::none}).value();
  REQUIRE(eventually([&] { return f.servers.having("r") == 3 && !lost.valid(); }));
  CHECK(f.locks.downgrade(std::move(lost), reader).code() == Errc::lost);
  CHECK(f.others.try_lock("r", writer).is_held());
}

TEST_CASE("a_downgrade_without_a_quorum_releases_the_lock") {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes)};
  Lease lease = locks.lock("r", writer).value();
  Observers living{nodes, {0}};
  REQUIRE(eventually([&] { return living.having("r") == 1; }));
  nodes.kill(1);
  nodes.kill(2);
  CHECK(locks.downgrade(std::move(lease), reader).code() == Errc::no_quorum);
  CHECK(eventually([&] { return living.empty() == 1; }));
}

TEST_CASE("a_lease_that_cannot_be_downgraded_stays_as_it_is") {
  TwoClients f;
  const auto is_refused = [](redlock::LockClient& locks, Lease& lease, const LockOptions& options = reader) {
    return locks.downgrade(std::move(lease), options).code() == Errc::invalid_argument;
  };
  Lease empty;
  CHECK(is_refused(f.locks, empty));
  Lease shared = f.locks.lock("shared", reader).value();
  CHECK(is_refused(f.locks, shared));
  CHECK(shared.valid());
  Lease kept = f.locks.lock("kept", {.ttl = 60s, .at_least = 60s}).value();
  CHECK(is_refused(f.locks, kept));
  CHECK(kept.valid());
  Lease exclusive = f.locks.lock("r", writer).value();
  CHECK(is_refused(f.others, exclusive));
  CHECK(is_refused(f.locks, exclusive, {.fencing = false}));
  CHECK(is_refused(f.locks, exclusive, {.seats = 2}));
  CHECK(is_refused(f.locks, exclusive, {.at_least = 1s}));
  CHECK(exclusive.valid());
  CHECK(f.others.try_lock("r", reader).is_held());
  CHECK(exclusive.release() == Release::released);
}
