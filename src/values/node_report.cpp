#include "redlock/node_report.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <functional>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock {
inline namespace v1 {
namespace {

std::string text_of(const Holder& holder) {
  std::ostringstream text;
  text << holder;
  return text.str();
}

std::string details(const NodeReport& report) {
  std::string text = core::printable(report.message);
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (report.owner) add(report.owner->empty() ? "no owner" : "owner " + text_of(Holder{*report.owner}));
  if (report.ttl)
    add(std::to_string(std::chrono::floor<std::chrono::milliseconds>(*report.ttl).count()) + " ms left");
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
      return "give the user the permissions that docs/errors.md lists; those to keys depend on key_prefix";
    case NodeStatus::read_only:
    case NodeStatus::replica:
      return "list independent masters only";
    case NodeStatus::wrong_type:
      return "use another resource name or key prefix";
    case NodeStatus::bad_counter:
      return "check the nodes' clocks, and set the counter as docs/fencing.md says";
    case NodeStatus::same_node:
      return "list each server once";
    case NodeStatus::tls_failed:
      return "fix the certificate, or the TLS options of the client";
    default:
      return {};
  }
}

}  // namespace

Holder::Holder(std::string owner) : owner_value{std::move(owner)} {
  constexpr std::size_t digits = 40;
  std::string_view value{owner_value};
  const bool has_mark = value.ends_with(core::leader_mark);
  if (has_mark) value.remove_suffix(core::leader_mark.size());
  const std::size_t at = value.rfind(" @");
  if (value.size() <= digits || value[digits] != ' ' || at == value.npos || at < digits) return;
  if (value.substr(0, digits).find_first_not_of(core::lower_hex) != value.npos) return;
  std::int64_t seconds = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data() + at + 2, end, seconds);
  constexpr std::int64_t most = 253402300799;  // the end of the year 9999
  if (parsed.ec != std::errc{} || parsed.ptr != end || seconds < 0 || seconds > most) return;
  since = std::chrono::sys_seconds{std::chrono::seconds{seconds}};
  is_leader = has_mark;
  if (at > digits) label = value.substr(digits + 1, at - digits - 1);
}

bool Holder::is_kept() const noexcept { return owner_value == core::kept_value; }
bool Holder::is_shared() const noexcept { return owner_value == core::held_by_readers; }

std::optional<Holder> holder_of(std::span<const NodeReport> reports) {
  for (const NodeReport& report : reports) {
    if (!report.owner || report.owner->empty()) continue;
    const auto has_this_owner = [&](const NodeReport& other) { return other.owner == report.owner; };
    const auto number = std::ranges::count_if(reports, has_this_owner);
    if (2 * static_cast<std::size_t>(number) < reports.size()) continue;
    Holder holder{*report.owner};
    for (const NodeReport& other : reports)
      if (has_this_owner(other) && other.ttl)
        holder.ttl = std::max(holder.ttl.value_or(*other.ttl), *other.ttl);
    return holder;
  }
  return std::nullopt;
}

std::vector<InLine> line_in(std::span<const NodeReport> reports) {
  std::vector<InLine> all;
  for (const NodeReport& report : reports)
    for (const InLine& one : report.line) {
      const auto is_same = [&one](const InLine& other) {
        return other.client == one.client && other.label == one.label;
      };
      const auto known = std::ranges::find_if(all, is_same);
      if (known == all.end())
        all.push_back(one);
      else
        known->waited = std::max(known->waited, one.waited);
    }
  std::ranges::stable_sort(all, std::ranges::greater{}, &InLine::waited);
  return all;
}

std::vector<Holder> readers_in(std::span<const NodeReport> reports) {
  std::map<std::string, std::size_t> nodes;  // by owner value: how many nodes report it
  for (const NodeReport& report : reports)
    for (const std::string& reader : report.readers) ++nodes[reader];
  std::vector<Holder> readers;
  for (const auto& [owner_value, count] : nodes)
    if (2 * count >= reports.size()) readers.emplace_back(owner_value);
  return readers;
}

std::size_t reader_count_in(std::span<const NodeReport> reports) {
  if (reports.empty()) return 0;
  std::vector<std::size_t> counts;
  for (const NodeReport& report : reports) counts.push_back(report.reader_count);
  std::ranges::sort(counts, std::ranges::greater{});
  return counts[(counts.size() - 1) / 2];
}

std::ostream& operator<<(std::ostream& out, const Holder& holder) {
  if (holder.is_kept()) return out << "nobody, kept by at_least";
  if (holder.is_shared()) return out << "readers";
  if (!holder.since) return out << core::printable(holder.owner_value);
  const std::time_t since = holder.since->time_since_epoch().count();
  std::tm parts{};
  std::ostringstream text;
  text << (holder.is_leader ? "leader " : "") << core::printable(holder.label);
  if (::gmtime_r(&since, &parts)) text << " since " << std::put_time(&parts, "%F %T UTC");
  return out << text.str();
}

std::ostream& operator<<(std::ostream& out, const NodeReport& report) {
  std::string line = report.node;
  line.append(": ").append(to_string(report.status));
  if (const auto more = details(report); !more.empty()) line.append(" (").append(more).append(")");
  if (const auto action = remedy(report.status); !action.empty()) line.append(": ").append(action);
  return out << line;
}

}  // namespace v1
}  // namespace redlock
