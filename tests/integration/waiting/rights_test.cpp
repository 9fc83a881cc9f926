// Users who lack rights that the line needs, and nodes that do not report changed keys.
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/calls_in_turn.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Order;
using redlock::Redlock;

using Rules = std::vector<std::string>;

const Rules everything{"~*", "&*", "+@all"};
const Rules no_keys_of_the_line{
    "~app:*", "~redlock:f*", "~redlock:node:app:", "~redlock:quarantine:app:", "&*", "+@all"};
const Rules no_channels{"~*", "&__redis__:invalidate", "+@all"};
const Rules no_publishing{"~*", "&*", "+@all", "-publish"};
const Rules no_sorted_sets{"~*", "&*", "+@all", "-@sortedset"};
const Rules no_tracking{"~*", "&*", "+@all", "-client|tracking"};

constexpr int all = 5;

/// Three nodes, and clients with the user "app".
struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  WaitingLine line{nodes, "app:r"};
  std::mutex mutex;
  std::vector<std::string> warnings;  // of all clients
  std::list<Redlock> clients;

  explicit Fixture(const Rules& rules) {
    Rules command{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
    command.insert(command.end(), rules.begin(), rules.end());
    for (RawClient& server : servers) REQUIRE(server.command(command) == "OK");
  }
  Redlock& add_client() {
    std::vector<Endpoint> list;
    for (int node = 0; node < nodes.size(); ++node)
      list.emplace_back("redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(node)));
    return clients.emplace_back(
        list, redlock::Options{.key_prefix = "app:", .on_warning = [this](std::string_view text) {
                                 const std::lock_guard lock{mutex};
                                 warnings.emplace_back(text);
                               }});
  }
  std::vector<std::string> all_warnings() {
    const std::lock_guard lock{mutex};
    return warnings;
  }
  /// Clients call one after the other for a lock that somebody holds, who then releases it.
  std::vector<int> served_in_turn() {
    line.take("somebody");
    CallsInTurn calls{"r"};
    for (int call = 0; call < all; ++call) {
      calls.add(add_client());
      REQUIRE(eventually([&] { return line.length() == call + 1; }));
    }
    line.free();
    calls.allow_releases(all);
    REQUIRE(eventually([&] { return std::ssize(calls.served()) == all; }));
    return calls.served();
  }
};

}  // namespace

TEST_CASE("a_user_without_rights_to_the_line_polls_after_one_warning") {
  Fixture f{GENERATE(no_keys_of_the_line, no_sorted_sets)};
  Redlock& locks = f.add_client();
  f.line.take("somebody");
  {
    CallsInTurn calls{"r"};
    calls.add(locks);
    calls.add(locks);
    CHECK(locks.try_lock_for("r", 500ms).code() == Errc::timed_out);
    CHECK(locks.try_lock("r").is_held());
    f.line.free();
    calls.allow_releases(2);
    CHECK(eventually([&] { return calls.served().size() == 2; }));
  }
  CHECK(f.line.keys().empty());
  REQUIRE(eventually([&] { return !f.all_warnings().empty(); }));
  CHECK(f.all_warnings().size() == 1);
  CHECK_THAT(f.all_warnings().front(), contains("redlock:q?:*"));
}

TEST_CASE("an_explicit_order_fails_without_the_rights") {
  Fixture f{GENERATE(no_keys_of_the_line, no_sorted_sets)};
  Redlock& locks = f.add_client();
  f.line.take("somebody");
  const auto result = locks.lock("r", {.order = Order::fifo});
  CAPTURE(result.message());
  CHECK(result.code() == Errc::misconfigured);
  CHECK(count(result.nodes(), NodeStatus::no_permission) > 0);
  CHECK_THAT(result.message(),
             contains("give the user the permissions that docs/errors.md lists; those to keys "
                      "depend on key_prefix"));
  CHECK(f.all_warnings().empty());
  CHECK(f.line.keys().empty());
}

TEST_CASE("a_user_without_the_channels_of_the_line_is_served_in_order") {
  Fixture f{GENERATE(no_channels, no_publishing)};
  CHECK(f.served_in_turn() == numbers(all));
}

TEST_CASE("a_user_whose_changed_keys_are_not_reported_is_served_in_order") {
  Fixture f{no_tracking};
  CHECK(f.served_in_turn() == numbers(all));
}

TEST_CASE("a_user_with_all_rights_is_served_in_order_without_a_warning") {
  Fixture f{everything};
  CHECK(f.served_in_turn() == numbers(all));
  CHECK(f.all_warnings().empty());
}

TEST_CASE("a_user_without_rights_to_shared_locks_still_waits_in_order") {
  Fixture f{{"~app:*", "~redlock:f*", "~redlock:q*", "~redlock:node:app:", "~redlock:quarantine:app:", "&*",
             "+@all"}};
  CHECK(f.add_client().try_lock("r", {.shared = true}).code() == Errc::misconfigured);
  CHECK(f.served_in_turn() == numbers(all));
  CHECK(f.all_warnings().empty());
}
