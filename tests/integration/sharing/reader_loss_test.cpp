// Readers whose copies are deleted by hand, and nodes that lose their data.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "integration/sharing/reach_all_readers.hpp"
#include "integration/support/loss_recorder.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::Redlock;

const std::string set = "redlock:s:{r}";

struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  LossRecorder recorder;

  Lease read() {
    reach_all_readers(locks, servers);
    Lease lease = locks
                      .lock("r", {.ttl = 60s,
                                  .shared = true,
                                  .renewal = redlock::Renewal::none,
                                  .on_lost = recorder.callback()})
                      .value();
    REQUIRE(eventually([&] { return servers.holding(own(lease), lease.owner_value()) == 3; }));
    return lease;
  }
  static std::string own(const Lease& lease) { return set + ":" + lease.owner_value().substr(0, 16); }
  [[nodiscard]] bool is_watched() {
    return eventually([&] {
      return locks.pending() == 0 && std::all_of(servers.begin(), servers.end(), [](RawClient& server) {
               return server.info("tracking_total_keys") == "1";
             });
    });
  }
};

}  // namespace

TEST_CASE("a_reader_whose_own_keys_are_deleted_is_lost_at_once") {
  Fixture f;
  const Lease lease = f.read();
  REQUIRE(f.is_watched());
  f.servers.command({"DEL", Fixture::own(lease)});
  REQUIRE(eventually([&] { return !f.recorder.losses().empty(); }));
  CHECK(f.recorder.losses() == std::vector{Loss::deleted});
  CHECK(f.recorder.at() < lease.deadline());
  CHECK_FALSE(lease.valid());
}

TEST_CASE("other_readers_and_their_releases_do_not_disturb_a_reader") {
  Fixture f;
  const Lease lease = f.read();
  REQUIRE(f.is_watched());
  for (int round = 0; round < 5; ++round) CHECK(is_granted(f.others.lock("r", {.ttl = 60s, .shared = true})));
  CHECK(lease.valid());
  CHECK(f.recorder.losses().empty());
}

TEST_CASE("a_reader_learns_from_its_next_extension_that_the_lock_or_the_set_was_deleted") {
  Fixture f;
  const std::string deleted = GENERATE(as<std::string>{}, "r", set);
  Lease lease = f.read();
  REQUIRE(f.is_watched());
  f.servers.command({"DEL", deleted});
  CHECK_FALSE(lease.extend());
  CHECK(lease.loss() == Loss::deleted);
}

TEST_CASE("a_reader_learns_from_its_next_extension_that_a_writer_has_the_lock") {
  Fixture f;
  Lease lease = f.read();
  f.servers.command({"DEL", "r"});
  const Lease writer = f.others.lock("r", {.ttl = 60s}).value();
  CHECK_FALSE(lease.extend());
  CHECK(lease.loss() == Loss::taken);
  CHECK(lease.release() == redlock::Release::already_lost);
  CHECK(writer.valid());
  CHECK(writer.fencing_token() > lease.fencing_token());
  CHECK(f.servers.holding("r", writer.owner_value()) == 3);
}

TEST_CASE("no_writer_gets_the_lock_while_a_minority_of_a_reader_s_copies_is_gone") {
  Fixture f;
  Lease lease = f.read();
  const std::string own = Fixture::own(lease);
  const std::string deleted = GENERATE_REF(std::string{"r"}, set, own);
  f.servers[1].command({"DEL", deleted});
  CHECK(f.others.try_lock("r").is_held());
  CHECK(lease.valid());
  CHECK(lease.extend());
  // The extension puts the copy back.
  CHECK(eventually([&] { return f.servers.holding("r", "redlock:shared") == 3; }));
  CHECK(eventually([&] { return f.servers.holding(own, lease.owner_value()) == 3; }));
  CHECK(f.others.try_lock("r").is_held());
}

TEST_CASE("a_writer_waits_for_a_reader_whose_own_key_or_set_was_deleted") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  const Lease lease = locks.lock("r", {.ttl = 1s, .shared = true, .renewal = redlock::Renewal::none}).value();
  REQUIRE(eventually([&] { return servers.having(set) == 3; }));
  const std::string own = Fixture::own(lease);
  const bool deletes_set = GENERATE(true, false);
  const std::string deleted = deletes_set ? set : own;
  servers.command({"DEL", deleted});
  const Lease writer = others.try_lock_for("r", 30s).value();
  CHECK(redlock::Clock::now() >= lease.deadline());
  CHECK_FALSE(lease.valid());
}

TEST_CASE("a_node_that_restarted_without_data_gets_the_copies_of_readers_back") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.max_ttl = 2s}};
  Redlock others{endpoints(nodes), {.max_ttl = 2s}};
  Observers servers{nodes};
  const LockOptions reader{.ttl = 2s, .shared = true};
  reach_all_readers(locks, servers);
  reach_all_readers(others, servers);
  const Lease first = locks.lock("r", reader).value();
  const Lease second = others.lock("r", reader).value();
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  nodes.restart_empty(1);
  RawClient restarted{nodes.port(1)};
  REQUIRE(eventually([&] {
    return restarted.get(Fixture::own(first)) == first.owner_value() &&
           restarted.get(Fixture::own(second)) == second.owner_value() &&
           restarted.get("r") == "redlock:shared";
  }));
  CHECK(first.valid());
  CHECK(second.valid());
  CHECK(std::stoull(restarted.get("redlock:f:{r}").value()) >= first.fencing_token().value());
}
