// Elections on real servers: who leads, and who learns of it.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/proxy.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Election;
using redlock::Errc;
using redlock::Leader;
using redlock::Lease;
using redlock::Observation;
using redlock::Redlock;

using Seen = std::optional<Leader>;

/// What one observer was told. Thread safe.
class Told {
 public:
  [[nodiscard]] Observation observe(Election& election) {
    return election.observe([this](const Seen& leader) {
      const std::lock_guard lock{mutex_};
      all_.push_back(leader);
      at_ = Clock::now();
    });
  }
  [[nodiscard]] std::vector<Seen> all() const {
    const std::lock_guard lock{mutex_};
    return all_;
  }
  /// When it was told last.
  [[nodiscard]] Clock::time_point at() const {
    const std::lock_guard lock{mutex_};
    return at_;
  }
  [[nodiscard]] bool ends_with(const Seen& leader) const {
    return eventually([&] {
      const std::lock_guard lock{mutex_};
      return !all_.empty() && all_.back() == leader;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Seen> all_;
  Clock::time_point at_{};
};

Leader leader_by(const std::string& candidate, const Lease& lease) {
  return {candidate, lease.fencing_token()};
}

/// Candidates `a` and `b` and an observer, each with a client of its own.
struct Fixture {
  explicit Fixture(int count = 3) : nodes{count} {}
  LocalNodes nodes;
  Observers servers{nodes};
  Redlock clients[3]{Redlock{endpoints(nodes)}, Redlock{endpoints(nodes)}, Redlock{endpoints(nodes)}};
  Election a{clients[0], "cron", "a", {.ttl = 60s}};
  Election b{clients[1], "cron", "b", {.ttl = 60s}};
  Election observer{clients[2], "cron"};
};

}  // namespace

TEST_CASE("a_candidate_leads_until_it_resigns_and_the_next_one_in_line_follows") {
  Fixture f;
  CHECK(f.observer.leader() == std::nullopt);
  Lease first = f.a.try_campaign().value();
  CHECK(f.b.try_campaign().is_held());
  CHECK(f.observer.leader() == leader_by("a", first));
  std::optional<Lease> second;
  std::jthread campaign{[&] { second = f.b.campaign().value(); }};
  CHECK(eventually([&] { return f.servers.having("redlock:qw:{cron}") == 3; }));
  CHECK(first.release() == redlock::Release::released);
  campaign.join();
  CHECK(second->fencing_token() > first.fencing_token());
  CHECK(f.observer.leader() == leader_by("b", *second));
}

TEST_CASE("an_observer_is_told_of_each_leader_who_stays_and_of_nobody_between") {
  Fixture f;
  Told told;
  const Observation observation = told.observe(f.observer);
  REQUIRE(told.ends_with(std::nullopt));
  std::vector<Seen> expected{std::nullopt};
  for (Election* const candidate : {&f.a, &f.b, &f.b}) {
    Lease lease = candidate->try_campaign().value();
    expected.emplace_back(leader_by(candidate == &f.a ? "a" : "b", lease));
    REQUIRE(told.ends_with(expected.back()));
    lease.release();
    expected.emplace_back(std::nullopt);
    REQUIRE(told.ends_with(std::nullopt));
  }
  CHECK(told.all() == expected);
}

TEST_CASE("a_candidate_may_observe_its_own_election_over_the_same_client") {
  Fixture f;
  Told told;
  const Observation observation = told.observe(f.a);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(told.ends_with(std::nullopt));
    const Lease lease = f.a.try_campaign().value();
    REQUIRE(told.ends_with(leader_by("a", lease)));
  }
  REQUIRE(told.ends_with(std::nullopt));
  CHECK(told.all().size() == 7);
}

// A call reads the reports of changes itself, and leaves the next ones to the background.
TEST_CASE("an_observer_hears_of_a_leader_soon_after_a_call_of_its_client_has_read_the_reports_before") {
  LocalNodes nodes{3};
  Redlock leading{endpoints(nodes)};
  Election a{leading, "cron", "a", {.ttl = 60s}};
  Redlock observing{endpoints(nodes), {.node_timeout = 2s}};  // without reports it looks every five seconds
  Election observer{observing, "cron"};
  Told told;
  const Observation observation = told.observe(observer);
  for (int term = 0; term < 40; ++term) {
    CAPTURE(term);
    Lease lease = a.campaign().value();
    REQUIRE(told.ends_with(leader_by("a", lease)));
    {
      std::jthread calls{[&](const std::stop_token& stop) {
        while (!stop.stop_requested()) static_cast<void>(observing.inspect("something else"));
      }};
      std::this_thread::sleep_for(3ms);
      lease.release();
      std::this_thread::sleep_for(6ms + term % 6 * 1ms);  // about until the observer reads the nodes
    }
    const Clock::time_point asked = Clock::now();
    lease = a.campaign().value();
    REQUIRE(told.ends_with(leader_by("a", lease)));
    CHECK(told.at() - asked < 2s);
    lease.release();
    REQUIRE(told.ends_with(std::nullopt));
  }
}

TEST_CASE("a_campaign_ends_when_its_stop_is_requested") {
  Fixture f;
  const Lease lease = f.a.try_campaign().value();
  std::stop_source stop;
  std::error_code outcome;
  std::jthread campaign{[&] { outcome = f.b.campaign(stop.get_token()).code(); }};
  CHECK(eventually([&] { return f.servers.having("redlock:qw:{cron}") == 3; }));
  stop.request_stop();
  campaign.join();
  CHECK(outcome == Errc::cancelled);
}

TEST_CASE("an_observer_is_told_of_a_leader_whose_keys_were_deleted_and_of_one_that_died") {
  Fixture f;
  Told told;
  const Observation observation = told.observe(f.observer);
  {
    const Lease lease = f.a.try_campaign().value();
    REQUIRE(told.ends_with(leader_by("a", lease)));
    f.servers[0].del("cron");
    f.servers[2].del("cron");
    REQUIRE(told.ends_with(std::nullopt));
  }
  Election dying{f.clients[0], "cron", "dying", {.ttl = 1s, .renewal = redlock::Renewal::none}};
  Lease lease = dying.campaign().value();
  REQUIRE(told.ends_with(leader_by("dying", lease)));
  const Clock::time_point deadline = lease.deadline();
  REQUIRE(lease.orphan());
  REQUIRE(told.ends_with(std::nullopt));
  CHECK(told.at() >= deadline);
}

TEST_CASE("observers_hear_of_leaders_while_a_minority_of_the_nodes_is_dead_or_hangs") {
  Fixture f{5};
  Told told;
  const Observation observation = told.observe(f.observer);
  REQUIRE(told.ends_with(std::nullopt));
  for (Redlock& client : f.clients) reach_all(client, f.servers);
  f.nodes.kill(0);
  f.nodes.pause(3);
  Lease lease = f.a.campaign().value();
  REQUIRE(told.ends_with(leader_by("a", lease)));
  CHECK(f.observer.leader() == leader_by("a", lease));
  lease.release();
  REQUIRE(told.ends_with(std::nullopt));
  lease = f.b.campaign().value();
  REQUIRE(told.ends_with(leader_by("b", lease)));
  f.nodes.resume(3);
}

TEST_CASE("nothing_is_reported_while_too_few_nodes_answer_and_the_last_leader_afterwards") {
  Fixture f;
  Told told;
  const Observation observation = told.observe(f.observer);
  Lease first = f.a.try_campaign().value();
  REQUIRE(told.ends_with(leader_by("a", first)));
  f.nodes.pause(0);
  f.nodes.pause(1);
  try {
    static_cast<void>(f.observer.leader());
    FAIL("too few nodes answered");
  } catch (const redlock::Error& error) {
    CHECK(error.code() == Errc::no_quorum);
    CHECK(error.nodes().size() == 3);
  }
  f.servers[2].del("cron");
  f.nodes.resume(0);
  f.nodes.resume(1);
  first.release();
  const Lease second = f.b.campaign().value();
  REQUIRE(told.ends_with(leader_by("b", second)));
}

TEST_CASE("an_observer_goes_on_when_all_nodes_have_lost_their_data_one_after_the_other") {
  LocalNodes nodes{3};
  const redlock::Options options{.max_ttl = 1s};
  Redlock candidates{endpoints(nodes), options};
  Election candidate{candidates, "cron", "a", {.ttl = 1s}};
  REQUIRE(is_granted(candidate.try_campaign()));
  const auto recorder = std::make_shared<RecordingObserver>();
  Redlock observers{endpoints(nodes), {.max_ttl = 1s, .observer = recorder}};
  Election observer{observers, "cron"};
  Told told;
  const Observation observation = told.observe(observer);
  REQUIRE(told.ends_with(std::nullopt));
  for (int node = 0; node < 3; ++node) {
    nodes.restart_empty(node);
    // The observer is connected before another client marks the node.
    REQUIRE(eventually([&] {
      return std::ranges::any_of(recorder->nodes(), [&](const redlock::Observer::Node& event) {
        return event.node == nodes.url(node) && event.state == redlock::Observer::NodeState::barred;
      });
    }));
    REQUIRE(eventually([&] {
      static_cast<void>(candidate.try_campaign());
      return std::ranges::all_of(candidates.inspect("cron"), votes);
    }));
  }
  const Lease lease = candidate.campaign().value();
  CHECK(told.ends_with(leader_by("a", lease)));
  CHECK(observer.leader() == leader_by("a", lease));
}

TEST_CASE("an_observer_hears_again_after_its_connections_were_lost") {
  Fixture f;
  Told told;
  const Observation observation = told.observe(f.observer);
  REQUIRE(told.ends_with(std::nullopt));
  const std::string whom = GENERATE("pubsub", "normal");
  f.servers.command({"CLIENT", "KILL", "TYPE", whom, "SKIPME", "yes"});
  const Lease lease = f.a.campaign().value();
  CHECK(told.ends_with(leader_by("a", lease)));
}

// Each attempt writes to the nodes, long before the read that the one before has caused is answered.
TEST_CASE("an_observer_far_from_the_nodes_is_told_of_the_leader_while_its_client_tries_for_the_same_lock") {
  LocalNodes nodes{3};
  std::vector<std::unique_ptr<Proxy>> ways;
  std::vector<redlock::Endpoint> far;
  for (int node = 0; node < 3; ++node) {
    ways.push_back(std::make_unique<Proxy>(nodes.port(node)));
    ways.back()->set_delay(60ms, 60ms);
    far.emplace_back(ways.back()->url());
  }
  Redlock near{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  Redlock locks{far, {.connect_timeout = 20s, .node_timeout = 5s}};
  Election leading{near, "cron", "leading", {.ttl = 60s}};
  Election observed{locks, "cron", "observing"};
  const Lease lease = leading.campaign().value();
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&locks, caller](const std::stop_token& stop) {
      std::this_thread::sleep_for(caller * 20ms);
      while (!stop.stop_requested()) static_cast<void>(locks.try_lock("cron"));
    });
  Told told;
  const Observation observation = told.observe(observed);
  CHECK(told.ends_with(leader_by("leading", lease)));
}

TEST_CASE("an_observer_is_told_of_leaders_by_servers_that_do_not_report_changes") {
  Fixture f;
  for (RawClient& server : f.servers) {
    REQUIRE(server.command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all"}) == "OK");
    REQUIRE(server.command({"ACL", "SETUSER", "app", "-client|tracking"}) == "OK");
  }
  std::vector<redlock::Endpoint> blind;
  for (int node = 0; node < 3; ++node)
    blind.emplace_back("redis://app:secret@127.0.0.1:" + std::to_string(f.nodes.port(node)));
  Redlock client{blind};
  Election election{client, "cron"};
  Told told;
  const Observation observation = told.observe(election);
  REQUIRE(told.ends_with(std::nullopt));
  Lease lease = f.a.try_campaign().value();
  REQUIRE(told.ends_with(leader_by("a", lease)));
  lease.release();
  REQUIRE(told.ends_with(std::nullopt));
}

TEST_CASE("a_hostile_node_alone_makes_no_leader_and_ends_none") {
  Fixture f;
  Proxy proxy{f.nodes.port(0)};
  const std::string falsehood = std::vector<std::string>{
      std::string(40, 'a') + " liar @1795442531", {}, std::string(1024, 'x')}[GENERATE(0U, 1U, 2U)];
  proxy.rewrite([&](const std::vector<std::string>& command, std::string reply) {
    const auto bulk = [](const std::string& text) {
      return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    };
    if (command.size() > 1 && command[0] == "GETRANGE")
      return bulk(command[1] == "cron" ? falsehood : std::string{"9007199254740991"});
    if (command.size() > 1 && command[0] == "PTTL")
      return std::string{falsehood.empty() ? ":-2\r\n" : ":0\r\n"};
    return reply;
  });
  std::vector<redlock::Endpoint> beset = endpoints(f.nodes);
  beset.front() = redlock::Endpoint{proxy.url()};
  Redlock client{beset};
  Election election{client, "cron"};
  Told told;
  const Observation observation = told.observe(election);
  REQUIRE(told.ends_with(std::nullopt));
  Lease lease = f.a.try_campaign().value();
  REQUIRE(told.ends_with(leader_by("a", lease)));
  CHECK(election.leader() == leader_by("a", lease));
  CHECK(told.all().back() == leader_by("a", lease));
  lease.release();
  REQUIRE(told.ends_with(std::nullopt));
  for (const Seen& leader : told.all()) CHECK((!leader || leader->candidate == "a"));
}

TEST_CASE("an_observation_that_ended_is_told_nothing_and_may_end_itself") {
  Fixture f;
  Told told;
  std::optional<Observation> observation = told.observe(f.observer);
  REQUIRE(told.ends_with(std::nullopt));
  observation.reset();
  std::optional<Observation> itself;
  std::mutex made;
  Told witness;
  {
    const std::lock_guard lock{made};
    itself = f.observer.observe([&](const Seen&) {
      const std::lock_guard wait{made};
      itself.reset();
    });
  }
  const Observation last = witness.observe(f.observer);
  const Lease lease = f.a.try_campaign().value();
  REQUIRE(witness.ends_with(leader_by("a", lease)));
  CHECK(told.all().size() == 1);
  CHECK(eventually([&] {
    const std::lock_guard lock{made};
    return !itself;
  }));
}

TEST_CASE("the_end_of_an_observation_waits_for_its_callback_and_newer_leaders_replace_each_other") {
  Fixture f;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_inside = false;
  bool may_leave = false;
  std::vector<Seen> told;
  std::optional<Observation> observation = f.observer.observe([&](const Seen& leader) {
    std::unique_lock lock{mutex};
    told.push_back(leader);
    is_inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_leave; });
  });
  std::unique_lock lock{mutex};
  REQUIRE(changed.wait_for(lock, 20s, [&] { return is_inside; }));
  lock.unlock();
  Told witness;
  const Observation second = witness.observe(f.observer);
  for (Election* const candidate : {&f.a, &f.b}) {
    const Lease lease = candidate->try_campaign().value();
    REQUIRE(witness.ends_with(leader_by(candidate == &f.a ? "a" : "b", lease)));
  }
  const Lease lease = f.a.campaign().value();
  REQUIRE(witness.ends_with(leader_by("a", lease)));
  lock.lock();
  CHECK(told == std::vector<Seen>{std::nullopt});
  may_leave = true;
  changed.notify_all();
  CHECK(changed.wait_for(lock, 20s, [&] { return told.size() == 2; }));
  CHECK(told.back() == leader_by("a", lease));
  lock.unlock();
  observation.reset();
}

TEST_CASE("an_exception_of_an_observer_is_reported_as_a_warning") {
  LocalNodes nodes{1};
  std::mutex mutex;
  std::vector<std::string> warnings;
  redlock::SingleNodeLock client{redlock::Endpoint{nodes.url(0)},
                                 {.on_warning = [&](std::string_view warning) {
                                   const std::lock_guard lock{mutex};
                                   warnings.emplace_back(warning);
                                 }}};
  Election election{client, "cron"};
  const Observation observation = election.observe([](const Seen&) { throw std::runtime_error{"no"}; });
  CHECK(eventually([&] {
    const std::lock_guard lock{mutex};
    return warnings == std::vector<std::string>{"an observer of an election threw: no"};
  }));
}

TEST_CASE("what_is_wrong_with_an_election_is_said") {
  LocalNodes nodes{1};
  redlock::SingleNodeLock client{redlock::Endpoint{nodes.url(0)}};
  CHECK_THROWS_WITH((Election{client, "cron", "a", {.seats = 2}}), contains("an election has one holder"));
  CHECK_THROWS_WITH((Election{client, "cron", "a", {.shared = true}}),
                    contains("an election has one holder"));
  Election election{client, "redlock:x", "a"};
  CHECK(election.try_campaign().code() == Errc::invalid_argument);
  CHECK_THROWS_AS(election.observe([](const Seen&) {}), redlock::Error);
  CHECK_THROWS_AS(election.leader(), redlock::Error);
  CHECK_THROWS_WITH((Election{client, "cron"}.observe(nullptr)), contains("callback"));
  CHECK((Election{client, "cron", std::string(201, 'x')}.try_campaign().code() == Errc::invalid_argument));
}

TEST_CASE("a_lock_that_another_program_has_set_or_that_at_least_keeps_is_shown") {
  Fixture f;
  f.servers.command({"SET", "cron", "somebody"});
  CHECK(f.observer.leader() == Leader{"somebody", {}});
  f.servers.command({"DEL", "cron"});
  Election kept{f.clients[0], "cron", "a", {.ttl = 60s, .at_least = 60s}};
  kept.try_campaign().value().release();
  CHECK(f.servers.having("cron") == 3);
  CHECK(f.observer.leader() == std::nullopt);
  std::ostringstream text;
  text << Leader{"web3\n", redlock::FencingToken{7}} << ' ' << Leader{"web4", {}};
  CHECK(text.str() == "web3\\x0a, token 7 web4");
}

TEST_CASE("64_observers_are_told_of_a_new_leader_soon_after_the_old_one_resigned") {
  const int nodes = GENERATE(3, 5);
  Fixture f{nodes};
  std::list<Redlock> clients;
  std::list<Election> elections;
  std::list<Told> all_told;
  std::vector<Observation> observations;
  Lease first = f.a.try_campaign().value();
  for (int observer = 0; observer < 64; ++observer) {
    Redlock& client = clients.emplace_back(endpoints(f.nodes));
    observations.push_back(all_told.emplace_back().observe(elections.emplace_back(client, "cron")));
  }
  for (const Told& told : all_told) REQUIRE(told.ends_with(leader_by("a", first)));
  // Each observer has two connections to the server, and has read what reports the next change.
  for (RawClient& server : f.servers)
    REQUIRE(eventually([&] { return std::stol(server.info("tracking_clients").value_or("0")) >= 64; }));
  std::optional<Lease> second;
  Clock::time_point elected{};
  std::jthread campaign{[&] {
    second = f.b.campaign().value();
    elected = Clock::now();
  }};
  REQUIRE(eventually([&] { return f.servers.having("redlock:qw:{cron}") == nodes; }));
  const Clock::time_point resigned = Clock::now();
  first.release();
  campaign.join();
  Clock::duration longest{};
  for (const Told& told : all_told) {
    REQUIRE(told.ends_with(leader_by("b", *second)));
    longest = std::max(longest, told.at() - resigned);
  }
  const auto ms = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>{time}.count();
  };
  WARN(nodes << " nodes: elected after " << ms(elected - resigned) << " ms, the last observer told after "
             << ms(longest) << " ms");
  CHECK(longest < 2s);  // far less than the time between two looks
}
