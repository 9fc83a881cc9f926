#include "redlock/node_report.hpp"

#include <ostream>
#include <string>
#include <string_view>

#include "values/printable.hpp"

namespace redlock {
inline namespace v1 {
namespace {

std::string details(const NodeReport& report) {
  std::string text = detail::printable(report.message);
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (report.owner) add("owner " + detail::printable(*report.owner));
  if (report.ttl) add(std::to_string(report.ttl->count()) + " ms left");
  if (report.counter) add("token " + std::to_string(report.counter->value()));
  return text;
}

/// What people have to do before the node votes; empty if it is to wait, or if the message says it.
std::string_view remedy(NodeStatus status) {
  switch (status) {
    case NodeStatus::busy:
      return "run SCRIPT KILL on the server";
    case NodeStatus::out_of_memory:
      return "add memory, and do not allow eviction";
    case NodeStatus::not_persisting:
      return "make the server able to save its data";
    case NodeStatus::protocol_error:
      return "check that a Redis server listens at this address";
    case NodeStatus::auth_required:
      return "add the password to the endpoint";
    case NodeStatus::wrong_password:
      return "correct the user and the password of the endpoint";
    case NodeStatus::no_permission:
      return "give the user the permissions that docs/errors.md lists";
    case NodeStatus::read_only:
    case NodeStatus::replica:
      return "list independent masters only";
    case NodeStatus::wrong_type:
      return "use another resource name or key prefix";
    case NodeStatus::bad_counter:
      return "check the nodes' clocks, and set the counter as docs/fencing.md says";
    case NodeStatus::same_node:
      return "list each server once";
    default:
      return {};
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const NodeReport& report) {
  std::string line = report.node;
  line.append(": ").append(to_string(report.status));
  if (const auto more = details(report); !more.empty()) line.append(" (").append(more).append(")");
  if (const auto action = remedy(report.status); !action.empty()) line.append(": ").append(action);
  return out << line;
}

}  // namespace v1
}  // namespace redlock
