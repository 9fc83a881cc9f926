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

std::ostream& operator<<(std::ostream& out, const NodeReport& report) {
  std::string line = report.node;
  line.append(": ").append(to_string(report.status));
  if (const auto more = details(report); !more.empty()) line.append(" (").append(more).append(")");
  return out << line;
}

}  // namespace v1
}  // namespace redlock
