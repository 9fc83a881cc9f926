// What redlock nodes advises, from what it has seen of one node.
#include <string>
#include <utility>
#include <vector>

#include "redlock/status.hpp"
#include "support/catch.hpp"
#include "tool/nodes/node_findings.hpp"

using namespace redlock::tool;
using redlock::NodeStatus;

namespace {

std::vector<Finding> findings_about(NodeView node) {
  node.report.node = "127.0.0.1:6379";
  std::vector<Finding> findings;
  examine(node, Survey{.nodes = {node}, .options = {}}, findings);
  return findings;
}

}  // namespace

TEST_CASE("a_node_that_does_not_vote_is_found_with_an_advice_for_its_reason") {
  const std::pair<NodeStatus, std::string> advices[] = {
      {NodeStatus::unreachable, "Start the server"},
      {NodeStatus::timed_out, "Find out why the server does not answer"},
      {NodeStatus::loading, "Wait until the server has read its data."},
      {NodeStatus::busy, "Run SCRIPT KILL on the server."},
      {NodeStatus::out_of_memory, "Give the server more memory"},
      {NodeStatus::not_persisting, "Make the server able to save its data."},
      {NodeStatus::protocol_error, "Check that a Redis server listens at this address."},
      {NodeStatus::auth_required, "Add the password"},
      {NodeStatus::wrong_password, "Correct the user and the password"},
      {NodeStatus::no_permission,
       "Give the user the rights that redlock acl prints; those to keys depend on --key-prefix."},
      {NodeStatus::replica, "List independent masters only."},
      {NodeStatus::same_node, "List each server once."},
      {NodeStatus::tls_failed, "Fix the server's certificate"},
      {NodeStatus::other_deployment, "Configure all clients alike"},
      {NodeStatus::quarantined, "Run redlock nodes --wait"},
      {NodeStatus::wrong_type, "Read what the server says"},
  };
  for (const auto& [status, advice] : advices) {
    NodeView node;
    node.report.status = status;
    node.report.message = "said \x1b[2J";
    const std::vector<Finding> findings = findings_about(node);
    CAPTURE(status);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::degraded);
    CHECK(findings[0].id == "not_voting");
    CHECK(findings[0].node == "127.0.0.1:6379");
    CHECK(findings[0].text == "does not vote: " + std::string{to_string(status)} + " (said \\x1b[2J)");
    CHECK(findings[0].advice.starts_with(advice));
  }
}

TEST_CASE("the_key_of_a_quarantine_without_an_end_is_to_be_deleted_and_not_to_be_awaited") {
  for (const std::string reason :
       {"votes again once redlock:quarantine, which has no ttl, is deleted", "its quarantine has no ttl"}) {
    NodeView node;
    node.report.status = NodeStatus::quarantined;
    node.report.message = reason;
    const std::vector<Finding> findings = findings_about(node);
    CAPTURE(reason);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].advice ==
          "Delete the key of its quarantine when more than max_ttl has passed since the server restarted or "
          "lost its data.");
  }
}

TEST_CASE("a_server_that_cannot_report_deleted_locks_degrades") {
  NodeView node;
  node.report.status = NodeStatus::free;
  CHECK(findings_about(node).empty());
  node.facts.tracks = false;
  const std::vector<Finding> findings = findings_about(node);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::degraded);
  CHECK(findings[0].id == "no_tracking");
  CHECK(findings[0].advice == "Use Redis 6 or later, or Valkey.");
}
