#include "redlock/node_report.hpp"

#include <chrono>
#include <ios>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace {

using redlock::NodeReport;
using redlock::NodeStatus;

std::string line(const NodeReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

NodeReport held_by_another() {
  NodeReport report;
  report.node = "redis://a:1";
  report.status = NodeStatus::held;
  return report;
}

struct Row {
  NodeStatus status;
  std::string_view name;
  bool misconfiguration;
};

const std::vector<Row> all_statuses{
    {NodeStatus::granted, "granted", false},
    {NodeStatus::held, "held", false},
    {NodeStatus::free, "free", false},
    {NodeStatus::timed_out, "timed out", false},
    {NodeStatus::unreachable, "unreachable", false},
    {NodeStatus::connection_lost, "connection lost", false},
    {NodeStatus::not_awaited, "not awaited", false},
    {NodeStatus::overloaded, "overloaded", false},
    {NodeStatus::loading, "loading", false},
    {NodeStatus::busy, "busy", false},
    {NodeStatus::out_of_memory, "out of memory", false},
    {NodeStatus::not_persisting, "not persisting", false},
    {NodeStatus::server_error, "server error", false},
    {NodeStatus::protocol_error, "protocol error", false},
    {NodeStatus::auth_required, "auth required", true},
    {NodeStatus::wrong_password, "wrong password", true},
    {NodeStatus::no_permission, "no permission", true},
    {NodeStatus::read_only, "read only", true},
    {NodeStatus::replica, "replica", true},
    {NodeStatus::wrong_type, "wrong type", true},
    {NodeStatus::put_back, "put back", false},
    {NodeStatus::bad_counter, "bad counter", true},
    {NodeStatus::same_node, "same node", true},
    {NodeStatus::quarantined, "quarantined", false},
    {NodeStatus::other_deployment, "other deployment", true},
    {NodeStatus::ttl_too_long, "ttl too long", true},
    {NodeStatus::tls_failed, "tls failed", true},
};

}  // namespace

TEST_CASE("every_status_has_a_name_and_says_if_it_is_a_misconfiguration") {
  for (const auto& row : all_statuses) {
    CHECK(to_string(row.status) == row.name);
    CHECK(is_misconfiguration(row.status) == row.misconfiguration);
  }
  // The list above is complete: the number after the last status has no name.
  CHECK(to_string(static_cast<NodeStatus>(all_statuses.size())) == "unknown status");
}

TEST_CASE("a_report_is_one_line_with_every_known_detail") {
  NodeReport report = held_by_another();
  CHECK(line(report) == "redis://a:1: held");
  report.message = "since a while";
  CHECK(line(report) == "redis://a:1: held (since a while)");
  report.owner = "0123abcd";
  CHECK(line(report) == "redis://a:1: held (since a while; owner 0123abcd)");
  report.ttl = std::chrono::milliseconds{1500};
  CHECK(line(report) == "redis://a:1: held (since a while; owner 0123abcd; 1500 ms left)");
  report.counter = redlock::FencingToken{34};
  CHECK(line(report) == "redis://a:1: held (since a while; owner 0123abcd; 1500 ms left; token 34)");
  report.counter.reset();
  report.message.clear();
  report.owner = "";  // the value of another program
  CHECK(line(report) == "redis://a:1: held (no owner; 1500 ms left)");
  report.owner.reset();
  CHECK(line(report) == "redis://a:1: held (1500 ms left)");
}

TEST_CASE("the_line_of_a_misconfigured_node_says_what_to_do") {
  for (const auto& row : all_statuses) {
    CAPTURE(row.name);
    NodeReport report = held_by_another();
    report.status = row.status;
    report.message = "why";
    const std::string plain = "redis://a:1: " + std::string{row.name} + " (why)";
    // The restart guard's message says what to do about another deployment.
    const bool is_said = row.status == NodeStatus::other_deployment || row.status == NodeStatus::ttl_too_long;
    CHECK(line(report).starts_with(plain));
    if (row.misconfiguration) CHECK((line(report) != plain) == !is_said);
  }
  NodeReport report = held_by_another();
  report.status = NodeStatus::replica;
  report.message = "the server's role is slave; only masters vote";
  CHECK(
      line(report) ==
      "redis://a:1: replica (the server's role is slave; only masters vote): list independent masters only");
}

TEST_CASE("control_characters_in_a_report_are_escaped") {
  NodeReport report = held_by_another();
  report.message = "two\r\nlines";
  report.owner = std::string{"\x1b[31m\0\x7f", 7};
  CHECK(line(report) == "redis://a:1: held (two\\x0d\\x0alines; owner \\x1b[31m\\x00\\x7f)");
}

TEST_CASE("a_long_message_of_a_server_is_truncated") {
  NodeReport report = held_by_another();
  report.message = std::string(200, 'x');
  CHECK(line(report) == "redis://a:1: held (" + report.message + ")");
  report.message += "y";
  CHECK(line(report) == "redis://a:1: held (" + std::string(200, 'x') + "...)");
}

TEST_CASE("a_report_ignores_the_number_format_of_the_stream") {
  NodeReport report = held_by_another();
  report.ttl = std::chrono::milliseconds{255};
  std::ostringstream out;
  out << std::hex << std::showbase << report;
  CHECK(out.str() == "redis://a:1: held (255 ms left)");
}
