// Who holds a lock, as the owner value says.
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "api/label.hpp"
#include "os/process_label.hpp"
#include "redlock/node_report.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using redlock::Holder;
using redlock::InLine;
using redlock::NodeReport;
using redlock::detail::draw_owner_values;
using redlock::testing::contains;

std::string text_of(const Holder& holder) {
  std::ostringstream text;
  text << holder;
  return text.str();
}
const std::string digits = "0123456789abcdef0123456789abcdef01234567";

}  // namespace

TEST_CASE("a_lock_that_is_kept_after_its_release_has_no_holder") {
  const Holder holder{"redlock:kept"};
  CHECK(holder.is_kept());
  CHECK(text_of(holder) == "nobody, kept by at_least");
  CHECK_FALSE(Holder{"redlock:kept "}.is_kept());
  CHECK_FALSE(Holder{digits + " web3:4711 backup @1795442531"}.is_kept());
}

TEST_CASE("a_lock_that_readers_share_has_no_single_holder") {
  const Holder holder{"redlock:shared"};
  CHECK(holder.is_shared());
  CHECK_FALSE(holder.is_kept());
  CHECK(text_of(holder) == "readers");
  CHECK_FALSE(Holder{"redlock:shared "}.is_shared());
  CHECK_FALSE(Holder{"redlock:kept"}.is_shared());
  CHECK_FALSE(Holder{digits + " web3:4711 backup @1795442531"}.is_shared());
}

TEST_CASE("readers_count_if_at_least_half_of_the_nodes_report_them") {
  const std::string first = digits + " web1:17 report @1795442531";
  const auto readers_on = [](const std::vector<std::vector<std::string>>& nodes) {
    std::vector<NodeReport> reports;
    for (const std::vector<std::string>& readers : nodes)
      reports.push_back(
          {.node = "node", .message = {}, .owner = "redlock:shared", .ttl = {}, .readers = readers});
    std::vector<std::string> owners;
    for (const Holder& reader : readers_in(reports)) owners.push_back(reader.owner_value);
    return owners;
  };
  using Owners = std::vector<std::string>;
  CHECK(readers_on({}).empty());
  CHECK(readers_on({{}, {}, {}}).empty());
  CHECK(readers_on({{"b", first}, {first, "c"}, {"a", "b"}}) == Owners{first, "b"});
  CHECK(readers_on({{"b"}, {"a"}}) == Owners{"a", "b"});
  CHECK(readers_on({{"b"}, {"a"}, {}}).empty());
  const std::vector<NodeReport> one{
      {.node = "node", .message = {}, .owner = {}, .ttl = {}, .readers = {first}}};
  REQUIRE(readers_in(one).size() == 1);
  CHECK(readers_in(one).front().label == "web1:17 report");
  CHECK_FALSE(readers_in(one).front().ttl);
}

TEST_CASE("there_are_as_many_readers_as_at_least_half_of_the_nodes_have") {
  const auto count_of = [](const std::vector<std::size_t>& counts) {
    std::vector<NodeReport> reports;
    for (const std::size_t count : counts)
      reports.push_back({.node = "node", .message = {}, .owner = {}, .ttl = {}, .reader_count = count});
    return redlock::reader_count_in(reports);
  };
  CHECK(count_of({}) == 0);
  CHECK(count_of({120}) == 120);
  CHECK(count_of({0, 120}) == 120);
  CHECK(count_of({120, 0, 119}) == 119);
  CHECK(count_of({120, 0, 0}) == 0);
  CHECK(count_of({5, 4, 3, 2, 1}) == 3);
}

TEST_CASE("an_owner_value_says_who_the_holder_is_and_since_when") {
  const Holder holder{digits + " web3:4711 backup @1795442531"};
  CHECK(holder.owner_value == digits + " web3:4711 backup @1795442531");
  CHECK(holder.label == "web3:4711 backup");
  CHECK(holder.since == std::chrono::sys_seconds{1795442531s});
  CHECK(text_of(holder) == "web3:4711 backup since 2026-11-23 14:02:11 UTC");
}

TEST_CASE("an_owner_value_says_whether_the_holder_leads_an_election") {
  const Holder holder{digits + " web3 @7 leader @1795442531 leader"};
  CHECK(holder.is_leader);
  CHECK(holder.label == "web3 @7 leader");
  CHECK(holder.since == std::chrono::sys_seconds{1795442531s});
  CHECK(text_of(holder) == "leader web3 @7 leader since 2026-11-23 14:02:11 UTC");
  for (const std::string& value : {digits + " web3 leader @1795442531", digits + " web3 @1795442531  leader",
                                   digits + " web3 @1795442531 leader ", digits + " leader", " leader"s}) {
    CAPTURE(value);
    CHECK_FALSE(Holder{value}.is_leader);
  }
}

TEST_CASE("new_owner_values_differ_and_have_the_label_and_the_time") {
  for (const std::string& label :
       {""s, "web3:4711"s, "a @7 b"s, " blanks  "s, "\0\n\xff"s, std::string(200, '@')}) {
    const std::string value = draw_owner_values(label).next(1795442531999999us);
    const Holder holder{value};
    CHECK(holder.label == label);
    CHECK(holder.since == std::chrono::sys_seconds{1795442531s});
    CHECK(value.substr(0, 40) != draw_owner_values(label).next(1795442531s).substr(0, 40));
  }
  CHECK(Holder{draw_owner_values("a clock before 1970").next(-1us)}.since == std::chrono::sys_seconds{0s});
}

TEST_CASE("an_owner_value_of_another_form_is_shown_as_it_is") {
  for (const std::string& value :
       {""s, "a"s, digits, digits + " ", digits + " label", digits + "x label @1", digits + " label @",
        digits + " label @x", digits + " label @1x", digits + " label @99999999999999999999",
        digits + " label @-1", digits + " label @253402300800",
        "ABCDEF6789abcdef0123456789abcdef01234567 label @1"s, digits.substr(1) + " label @1"}) {
    CAPTURE(value);
    const Holder holder{value};
    CHECK(holder.owner_value == value);
    CHECK(holder.label.empty());
    CHECK_FALSE(holder.since);
    CHECK(text_of(holder) == value);
  }
}

TEST_CASE("labels_of_strangers_cannot_control_a_terminal") {
  CHECK(text_of(Holder{digits + " \x1b[31m\n @0"}) == "\\x1b[31m\\x0a since 1970-01-01 00:00:00 UTC");
  CHECK(text_of(Holder{"\x1b[31m"}) == "\\x1b[31m");
  CHECK(text_of(Holder{digits + " far away @253402300799"}) == "far away since 9999-12-31 23:59:59 UTC");
  CHECK(text_of(Holder{digits + " \xc2\x9b\x9b\xc3\xa9 @0"}) ==
        "\\xc2\\x9b\\x9b\xc3\xa9 since 1970-01-01 00:00:00 UTC");
}

TEST_CASE("the_label_of_a_process_names_host_process_and_program") {
  CHECK_THAT(redlock::detail::process_label("/bin/backup"),
             contains(":" + std::to_string(::getpid()) + " backup"));
  CHECK(redlock::detail::process_label(std::string(300, 'x')).size() == 200);
  CHECK(redlock::detail::connection_name().starts_with("redlock:"));
  CHECK(redlock::detail::connection_name().find(' ') == std::string::npos);
}

TEST_CASE("a_line_on_several_nodes_has_each_client_once_in_the_order_of_their_waits") {
  NodeReport former{.node = "former gate", .message = {}, .owner = {}, .ttl = {}};
  former.line = {{"a", "web1", 9s}, {"b", "web2", 5s}, {"c", "web2", 4s}};
  NodeReport gate = former;
  gate.line = {{"a", "web1", 10s}, {"d", "web3", 7s}, {"b", "web2", 6s}};
  const NodeReport other{.node = "other", .message = {}, .owner = {}, .ttl = {}};
  const std::vector<NodeReport> reports{former, other, gate};
  CHECK(line_in(reports) ==
        std::vector<InLine>{{"a", "web1", 10s}, {"d", "web3", 7s}, {"b", "web2", 6s}, {"c", "web2", 4s}});
}
