// What the command shows of semaphores, and of kinds of locks.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using json = nlohmann::json;

namespace {

/// A semaphore with two seats of which one is taken.
struct Seats {
  Seats() {
    REQUIRE(eventually([&] { return Observers{nodes}.having(resource()) == 3; }));
  }

  std::string resource() const { return std::string{lease.resource()}; }
  std::string other() const { return resource() == "gpu#0" ? "gpu#1" : "gpu#0"; }
  Program::Ending run(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--restart-guard", "off"});
    return run_tool(std::move(words), nodes.urls());
  }
  redlock::LockOptions any(const std::string& label) { return {.ttl = 1h, .seats = 2, .label = label}; }

  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  redlock::Lease lease = locks.try_lock("gpu", any("web1:17")).value();
};

}  // namespace

TEST_CASE("status_of_a_semaphore_shows_who_has_the_seats_that_are_taken") {
  Seats f;
  const Program::Ending text = f.run({"status", "--seats", "2", "gpu"});
  CHECK(text.code == 0);
  CHECK(text.output.starts_with("SEAT   HOLDER "));
  CHECK_THAT(text.output,
             contains("\n" + f.resource() + "  " + f.lease.owner_value().substr(0, 8) + " web1:17  2"));
  CHECK_THAT(text.output, contains("  59 min ") && contains(std::to_string(f.lease.fencing_token().value())));
  CHECK(text.output.find("\n" + f.other()) == std::string::npos);
  CHECK_THAT(text.output, contains("\n1 of 2 seats of gpu is taken.\n"));

  const json all = json::parse(f.run({"status", "--json", "--seats", "2", "gpu"}).output);
  CHECK(all["kind"] == "semaphore");
  CHECK(all["seats"] == 2);
  CHECK(all["taken"] == 1);
  REQUIRE(all["holders"].size() == 1);
  const json& holder = all["holders"][0];
  CHECK(holder["resource"] == f.resource());
  CHECK(holder["owner"] == f.lease.owner_value());
  CHECK(holder["token"] == f.lease.fencing_token().value());
  CHECK(holder["ttl_ms"].get<long>() > 3'000'000);

  CHECK(f.run({"status", "--seats", "2", "another"}).output == "0 of 2 seats of another are taken.\n");
}

TEST_CASE("status_of_a_semaphore_without_a_majority_says_so_and_exits_with_69") {
  Seats f;
  f.nodes.kill(0);
  f.nodes.kill(1);
  const Program::Ending ending = f.run({"status", "--seats", "2", "gpu"});
  CHECK(ending.code == 69);
  CHECK_THAT(ending.output,
             contains("0 of 2 seats of gpu are taken, and of 2 too few nodes answered to tell.\n"));
}

TEST_CASE("status_and_watch_of_a_seat_say_of_which_semaphore_it_is") {
  Seats f;
  const std::string seat = f.resource() + " (a seat of the semaphore gpu)";
  CHECK_THAT(f.run({"status", f.resource()}).output, contains("\n" + seat + " is held by web1:17 since 2"));
  CHECK_THAT(f.run({"status", f.other()}).output,
             contains("\nNobody holds " + f.other() + " (a seat of the semaphore gpu).\n"));
  const std::vector<std::string> variables{nodes_variable(f.nodes.urls())};
  const Program watch{tool({"watch", "--restart-guard", "off", f.resource()}), variables};
  REQUIRE(last_line_has(watch, " UTC  seat of gpu: held by web1:17 "));
  f.lease.release();
  REQUIRE(last_line_has(watch, " UTC  seat of gpu: free"));
}

TEST_CASE("status_and_watch_of_a_lock_that_readers_share_do_not_call_it_a_seat_by_its_name") {
  Seats f;
  const redlock::Lease reader = f.locks.try_lock("gpu#7", {.ttl = 1h, .shared = true}).value();
  REQUIRE(eventually([&] { return Observers{f.nodes}.having("gpu#7") == 3; }));
  CHECK_THAT(f.run({"status", "gpu#7"}).output, contains("\ngpu#7 is held by 1 reader: "));
  const Program watch{tool({"watch", "--restart-guard", "off", "gpu#7"}), {nodes_variable(f.nodes.urls())}};
  REQUIRE(last_line_has(watch, " UTC  held by 1 reader: "));
}

TEST_CASE("who_asks_for_or_releases_the_name_of_a_semaphore_is_told_that_its_seats_are_taken") {
  Seats f;
  const std::string hint =
      "Nobody holds gpu. At least 1 seat of the semaphore gpu is taken: see redlock status --seats N gpu.\n";
  const Program::Ending asked = f.run({"revoke", "gpu"});
  CHECK(asked.code == 1);
  CHECK(asked.errors == "redlock: " + hint);
  const Program::Ending released = f.run({"release", "--force", "--yes", "gpu"});
  CHECK(released.code == 1);
  CHECK(released.errors == "redlock: nothing to release: " + hint);
  CHECK(f.run({"revoke", "free"}).errors == "redlock: Nobody holds free.\n");
}

TEST_CASE("status_of_a_free_lock_says_how_many_seats_of_a_semaphore_of_its_name_are_taken_at_least") {
  Seats f;
  const Program::Ending one = f.run({"status", "gpu"});
  CHECK(one.code == 0);
  CHECK(
      one.output.ends_with("\nNobody holds gpu. At least 1 seat of the semaphore gpu is taken: see redlock "
                           "status --seats N gpu.\n"));
  const redlock::Lease second = f.locks.try_lock("gpu", f.any("web2:18")).value();
  REQUIRE(eventually([&] { return Observers{f.nodes}.having(f.other()) == 3; }));
  CHECK_THAT(f.run({"status", "gpu"}).output,
             contains(" At least 2 seats of the semaphore gpu are taken: see redlock status --seats N gpu."));
  const auto in_json = [&](const std::string& resource) {
    return json::parse(f.run({"status", "--json", resource}).output);
  };
  CHECK(in_json("gpu")["seats_taken_at_least"] == 2);
  CHECK(in_json("another")["seats_taken_at_least"] == 0);
  CHECK_FALSE(in_json("gpu#0").contains("seats_taken_at_least"));  // it is held
  const redlock::Lease plain = f.locks.try_lock("gpu", {.ttl = 1h, .label = "web3:19"}).value();
  REQUIRE(eventually([&] { return Observers{f.nodes}.having("gpu") == 3; }));
  CHECK_FALSE(in_json("gpu").contains("seats_taken_at_least"));
  CHECK(f.run({"status", "gpu"}).output.find("At least") == std::string::npos);
}

TEST_CASE(
    "status_of_a_free_lock_looks_at_sixteen_seats_and_at_none_if_the_name_is_too_long_for_a_semaphore") {
  Seats f;
  const redlock::Lease last = f.locks.try_lock("big#15", {.ttl = 1h}).value();
  const redlock::Lease beyond = f.locks.try_lock("big#16", {.ttl = 1h}).value();
  REQUIRE(eventually([&] {
    Observers servers{f.nodes};
    return servers.having("big#15") == 3 && servers.having("big#16") == 3;
  }));
  CHECK(json::parse(f.run({"status", "--json", "big"}).output)["seats_taken_at_least"] == 1);
  const Program::Ending ending = f.run({"status", "--json", std::string(4096, 'x')});
  CHECK(ending.code == 0);
  CHECK(json::parse(ending.output)["seats_taken_at_least"] == 0);
}

TEST_CASE("status_without_a_majority_says_nothing_about_seats") {
  Seats f;
  f.nodes.kill(0);
  f.nodes.kill(1);
  const Program::Ending ending = f.run({"status", "--json", "gpu"});
  CHECK(ending.code == 69);
  CHECK_FALSE(json::parse(ending.output).contains("seats_taken_at_least"));
}

TEST_CASE("who_waits_for_a_seat_is_shown_for_the_semaphore_and_for_each_seat") {
  Seats f;
  const redlock::Lease second = f.locks.try_lock("gpu", f.any("web2:18")).value();
  const std::vector<std::string> variables{nodes_variable(f.nodes.urls())};
  const Program waiter{tool({"run", "--restart-guard", "off", "--seats", "2", "gpu", "--", "true"}),
                       variables};
  const std::string label = ":" + std::to_string(waiter.id()) + " redlock";
  const auto is_shown = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, "--json");
    const json line = json::parse(f.run(words).output)["line"];
    return line.size() == 1 && line[0]["label"].get<std::string>().ends_with(label);
  };
  CHECK(eventually([&] { return is_shown({"status", "--seats", "2", "gpu"}); }));
  CHECK(is_shown({"status", "gpu#1"}));
  CHECK(is_shown({"list", "gpu#0"}));
  CHECK_THAT(f.run({"status", "--seats", "2", "gpu"}).output,
             contains("\n2 of 2 seats of gpu are taken.\n  1st in line: "));
  // The lock with the semaphore's name has nothing to do with it.
  CHECK(waiter.errors().find("held by") == std::string::npos);
  CHECK(json::parse(f.run({"status", "--json", "gpu"}).output)["line"].empty());
}

TEST_CASE("watch_of_a_semaphore_prints_a_line_for_each_change_of_a_seat") {
  Seats f;
  const std::vector<std::string> variables{nodes_variable(f.nodes.urls())};
  Program watch{tool({"watch", "--restart-guard", "off", "--seats", "2", "gpu"}), variables};
  Program watch_json{tool({"watch", "--json", "--restart-guard", "off", "--seats", "2", "gpu"}), variables};
  REQUIRE(eventually([&] {
    return watch.output().find(" UTC  " + f.resource() + "  held by web1:17 ") != std::string::npos &&
           watch.output().find(" UTC  " + f.other() + "  free\n") != std::string::npos;
  }));
  REQUIRE(eventually([&] { return std::ranges::count(watch_json.output(), '\n') == 2; }));
  redlock::Lease second = f.locks.try_lock("gpu", f.any("web2:18")).value();
  REQUIRE(last_line_has(watch, f.other() + "  held by web2:18 "));
  REQUIRE(last_line_has(watch_json, second.owner_value()));
  second.release();
  REQUIRE(last_line_has(watch, f.other() + "  free"));
  watch.signal(SIGTERM);
  CHECK(watch.wait().code == 0);
}

TEST_CASE("json_about_a_lock_says_of_which_kind_it_is") {
  Seats f;
  const redlock::Lease plain = f.locks.try_lock("plain", {.ttl = 1h}).value();
  const redlock::Lease reader = f.locks.try_lock("read", {.ttl = 1h, .shared = true}).value();
  const redlock::Lease led = redlock::Election{f.locks, "led", "web3", {.ttl = 1h}}.try_campaign().value();
  REQUIRE(eventually([&] {
    Observers servers{f.nodes};
    return servers.having("plain") == 3 && servers.having("read") == 3 && servers.having("led") == 3;
  }));
  const auto kind_in = [](const std::string& line) { return json::parse(line)["kind"].get<std::string>(); };
  const std::vector<std::string> variables{nodes_variable(f.nodes.urls())};
  for (const auto& [resource, kind] : {std::pair<std::string, std::string>{"plain", "exclusive"},
                                       {"read", "shared"},
                                       {"led", "leader"},
                                       {f.resource(), "seat"}}) {
    CHECK(kind_in(f.run({"status", "--json", resource}).output) == kind);
    CHECK(kind_in(f.run({"list", "--json", resource}).output) == kind);
    CHECK_THAT(f.run({"list", resource}).output,
               contains("\n" + resource + "  ") && contains("  " + kind + " "));
    Program watch{tool({"watch", "--json", "--restart-guard", "off", resource}), variables};
    REQUIRE(eventually([&] { return watch.output().ends_with('\n'); }));
    CHECK(kind_in(watch.output()) == kind);
  }
  const json seat = json::parse(f.run({"list", "--json", "gpu#"}).output);
  CHECK(seat["semaphore"] == "gpu");
  CHECK("gpu#" + std::to_string(seat["seat"].get<int>()) == f.resource());
}
