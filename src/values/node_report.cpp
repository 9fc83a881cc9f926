#include "redlock/node_report.hpp"

#include <ostream>

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

}  // namespace

std::string_view to_string(NodeStatus status) noexcept {
  switch (status) {
    case NodeStatus::granted:
      return "granted";
    case NodeStatus::held:
      return "held";
    case NodeStatus::free:
      return "free";
    case NodeStatus::timed_out:
      return "timed out";
    case NodeStatus::unreachable:
      return "unreachable";
    case NodeStatus::connection_lost:
      return "connection lost";
    case NodeStatus::overloaded:
      return "overloaded";
    case NodeStatus::loading:
      return "loading";
    case NodeStatus::busy:
      return "busy";
    case NodeStatus::out_of_memory:
      return "out of memory";
    case NodeStatus::not_persisting:
      return "not persisting";
    case NodeStatus::server_error:
      return "server error";
    case NodeStatus::protocol_error:
      return "protocol error";
    case NodeStatus::auth_required:
      return "auth required";
    case NodeStatus::wrong_password:
      return "wrong password";
    case NodeStatus::no_permission:
      return "no permission";
    case NodeStatus::read_only:
      return "read only";
    case NodeStatus::replica:
      return "replica";
    case NodeStatus::wrong_type:
      return "wrong type";
    case NodeStatus::put_back:
      return "put back";
    case NodeStatus::bad_counter:
      return "bad counter";
    case NodeStatus::same_node:
      return "same node";
    case NodeStatus::quarantined:
      return "quarantined";
    case NodeStatus::other_deployment:
      return "other deployment";
  }
  return "unknown status";
}

bool is_misconfiguration(NodeStatus status) noexcept {
  switch (status) {
    case NodeStatus::auth_required:
    case NodeStatus::wrong_password:
    case NodeStatus::no_permission:
    case NodeStatus::read_only:
    case NodeStatus::replica:
    case NodeStatus::wrong_type:
    case NodeStatus::bad_counter:
    case NodeStatus::same_node:
    case NodeStatus::other_deployment:
      return true;
    default:
      return false;
  }
}

std::ostream& operator<<(std::ostream& out, const NodeReport& report) {
  std::string line = report.node;
  line.append(": ").append(to_string(report.status));
  if (const auto more = details(report); !more.empty()) line.append(" (").append(more).append(")");
  return out << line;
}

}  // namespace v1
}  // namespace redlock
