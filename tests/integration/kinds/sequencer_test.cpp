// Sequencers, checked on real servers by somebody else than the holder.
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Options;
using redlock::Redlock;
using redlock::Sequencer;
using State = redlock::SequencerState;

const LockOptions quiet{.ttl = 60s, .renewal = redlock::Renewal::none};

Options patient(redlock::RestartGuard guard = redlock::RestartGuard::off) {
  return {.connect_timeout = 20s, .node_timeout = 20s, .restart_guard = guard};
}

/// A holder and a service, each with a client of its own.
struct Fixture {
  explicit Fixture(int count = 3, const Options& options = patient())
      : nodes{count}, holder{endpoints(nodes), options}, service{endpoints(nodes), options} {}
  LocalNodes nodes;
  Observers servers{nodes};
  Redlock holder;
  Redlock service;

  /// As the service gets it.
  static Sequencer sent(const Lease& lease) { return Sequencer::parse(lease.sequencer().to_string()); }
};

}  // namespace

TEST_CASE("a_sequencer_is_valid_from_the_grant_until_the_end_of_its_lease") {
  Fixture f;
  Lease first = f.holder.lock("invoice/42", quiet).value();
  const Sequencer sequencer = f.sent(first);
  CHECK(sequencer.resource() == "invoice/42");
  CHECK(sequencer.token() == first.fencing_token());
  CHECK(first.owner_value().starts_with(sequencer.id()));
  CHECK_FALSE(sequencer.is_shared());
  CHECK(f.service.check(sequencer) == State::valid);
  REQUIRE(first.extend());
  CHECK(f.service.check(sequencer) == State::valid);
  CHECK(first.sequencer() == sequencer);

  Lease adopted = f.service.adopt(first.orphan().value(), quiet).value();
  CHECK(f.holder.check(sequencer) == State::stale);
  CHECK(f.holder.check(f.sent(adopted)) == State::valid);
  CHECK(adopted.sequencer().token() > sequencer.token());
  adopted.release();
  CHECK(f.holder.check(f.sent(adopted)) == State::stale);
  const Lease next = f.service.lock("invoice/42", quiet).value();
  CHECK(f.holder.check(f.sent(next)) == State::valid);
  CHECK(f.holder.check(f.sent(adopted)) == State::stale);
  CHECK(f.holder.check(sequencer) == State::stale);
}

TEST_CASE("a_sequencer_of_a_seat_of_several_locks_or_of_an_unfenced_lease_is_checked_alike") {
  Options options = patient();
  options.key_prefix = "app:";
  Fixture f{3, options};
  const Lease seat = f.holder.lock("gpu", {.ttl = 60s, .seats = 4}).value();
  CHECK(f.sent(seat).resource() == seat.resource());
  CHECK(f.service.check(f.sent(seat)) == State::valid);
  const redlock::Leases both = f.holder.lock_all({"b", "a\n%"}, quiet).value();
  for (const Lease& lease : both) CHECK(f.service.check(f.sent(lease)) == State::valid);
  CHECK(f.sent(both[0]).resource() == "b");
  const Lease unfenced = f.holder.lock("plain", {.ttl = 60s, .fencing = false}).value();
  CHECK_FALSE(f.sent(unfenced).token());
  CHECK(f.service.check(f.sent(unfenced)) == State::valid);
  redlock::SingleNodeLock single{redlock::Endpoint{f.nodes.url(0)}};
  CHECK(single.check(f.sent(unfenced)) == State::stale);  // it has no prefix
}

TEST_CASE("a_node_that_hangs_delays_no_check_and_without_a_majority_it_is_unknown") {
  Fixture f;
  Lease lease = f.holder.lock("r", quiet).value();
  reach_all(f.service, f.servers);
  REQUIRE(eventually([&] { return f.servers.having("r") == 3; }));
  f.nodes.pause(2);
  const Clock::time_point begun = Clock::now();
  CHECK(f.service.check(f.sent(lease)) == State::valid);
  CHECK(Clock::now() < begun + 10s);
  f.nodes.resume(2);
  f.nodes.kill(2);
  CHECK(f.service.check(f.sent(lease)) == State::valid);
  f.nodes.kill(1);
  CHECK(f.service.check(f.sent(lease)) == State::unknown);
  lease.release();
  std::error_code code = redlock::Errc::held;
  CHECK(f.service.check(f.sent(lease), code) == State::unknown);
  CHECK_FALSE(code);
}

TEST_CASE("a_node_that_lies_alone_makes_no_lease_valid_and_none_stale") {
  Fixture f;
  std::optional<Lease> lease = f.holder.lock("r", quiet).value();
  const Sequencer sequencer = f.sent(*lease);
  const std::string truth = lease->owner_value();
  const bool is_held = GENERATE(false, true);
  if (!is_held) lease.reset();
  REQUIRE(eventually([&] { return f.servers.having("r") == (is_held ? 3 : 0); }));
  Proxy proxy{f.nodes.port(0)};
  proxy.rewrite([&](const std::vector<std::string>& command, std::string reply) {
    if (command.empty() || command[0] != "GETRANGE") return reply;
    const std::string lie = is_held ? "" : truth;
    return "$" + std::to_string(lie.size()) + "\r\n" + lie + "\r\n";
  });
  std::vector<redlock::Endpoint> beset = endpoints(f.nodes);
  beset.front() = redlock::Endpoint{proxy.url()};
  Redlock service{beset, patient()};
  for (int round = 0; round < 3; ++round)
    CHECK(service.check(sequencer) == (is_held ? State::valid : State::stale));
}

TEST_CASE("nodes_that_lost_their_data_do_not_make_a_lease_stale") {
  Fixture f{3, patient(redlock::RestartGuard::automatic)};
  const Lease lease = f.holder.lock("r", quiet).value();
  REQUIRE(eventually([&] { return all_are_marked(f.servers) && f.servers.having("r") == 3; }));
  f.nodes.restart_empty(0);
  f.nodes.restart_empty(1);
  const auto is_quarantined = [](const redlock::NodeReport& report) {
    return report.status == redlock::NodeStatus::quarantined;
  };
  REQUIRE(eventually([&] {
    CHECK(f.service.check(f.sent(lease)) == State::unknown);
    const auto reports = f.service.inspect("r");
    return is_quarantined(reports[0]) && is_quarantined(reports[1]);
  }));
  CHECK(f.service.check(f.sent(lease)) == State::unknown);
}

TEST_CASE("a_reader_is_checked_by_the_lock_its_own_key_and_the_set_of_readers") {
  Fixture f;
  const Sequencer reader = Sequencer::parse("redlock1;s;7;0123456789abcdef;r");
  const std::string own = "redlock:s:{r}:0123456789abcdef";
  f.servers.command({"SET", own, "0123456789abcdef000000000000000000000000 web3 @1"});
  CHECK(f.service.check(reader) == State::stale);
  f.servers.command({"SET", "r", "redlock:shared"});
  CHECK(f.service.check(reader) == State::stale);
  f.servers.command({"SADD", "redlock:s:{r}", "0123456789abcdef"});
  CHECK(f.service.check(reader) == State::valid);
  CHECK(f.service.check(Sequencer::parse("redlock1;s;7;1123456789abcdef;r")) == State::stale);
  f.servers[0].command({"DEL", own});
  CHECK(f.service.check(reader) == State::valid);
  f.servers[1].command({"SET", "r", "somebody"});
  CHECK(f.service.check(reader) == State::stale);
}

TEST_CASE("what_is_wrong_with_a_check_is_said") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off, .key_prefix = "redlock"}};
  CHECK_THROWS_WITH(Lease{}.sequencer(), contains("invalid argument: an empty lease has no sequencer"));
  Lease lease = locks.lock("r", quiet).value();
  Lease moved = std::move(lease);
  CHECK_THROWS_AS(lease.sequencer(), redlock::Error);  // NOLINT(bugprone-use-after-move)
  CHECK(locks.check(moved.sequencer()) == State::valid);
  const Sequencer forbidden = Sequencer::parse("redlock1;x;7;0123456789abcdef;%3Anode");
  CHECK_THROWS_AS(locks.check(forbidden), redlock::Error);
  std::error_code code;
  CHECK(locks.check(forbidden, code) == State::unknown);
  CHECK(code == redlock::Errc::invalid_argument);
}
