#include "tool/locks/list.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/line_text.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/locks/lock_reader.hpp"
#include "tool/output.hpp"
#include "tool/semaphore/seats.hpp"
#include "tool/table.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using Listing = Table<8>;

/// A lock in the list: the owner value with the most copies.
struct Entry {
  std::string resource;
  Holder holder;
  std::size_t copies = 0;
  LockState::Kind state = LockState::Kind::unknown;
  std::optional<std::chrono::nanoseconds> ttl;  ///< None: never expires.
  std::optional<FencingToken> token;
  std::vector<NodeReport> readers;  ///< If readers share it: who they are.
  std::vector<InLine> line;
};

/// Precondition: at least one node has a copy.
Entry entry_of(const FoundLock& lock) {
  std::map<std::string, std::size_t> copies;
  for (const NodeReport& report : lock.nodes)
    if (report.owner) ++copies[*report.owner];
  const auto most = std::ranges::max_element(copies, {}, [](const auto& owner) { return owner.second; });
  const LockState state = lock_state_of(lock.nodes);
  Entry entry{.resource = lock.resource,
              .holder = Holder{most->first},
              .copies = most->second,
              .state = state.kind,
              .ttl = {},
              .token = {},
              .readers = {},
              .line = {}};
  if (!entry.holder.is_shared()) entry.token = token_of(lock.nodes, most->first);  // readers may have several
  for (const NodeReport& report : lock.nodes) {
    if (report.owner != most->first) continue;
    if (report.ttl) entry.ttl = std::max(report.ttl, entry.ttl);
  }
  if (has_life(state))
    entry.ttl = state.ttl == std::chrono::nanoseconds::max() ? std::nullopt : std::optional{state.ttl};
  return entry;
}

/// What the owner value says: too few nodes may have it for a state.
LockState::Kind shown_state(const Entry& entry) {
  return entry.holder.is_shared() ? LockState::Kind::shared : entry.state;
}

Listing::Row row_of(const Entry& entry, std::size_t nodes) {
  return {printable(entry.resource),
          std::string{kind_of(entry.resource, shown_state(entry), entry.holder.owner_value)},
          entry.holder.is_shared() ? number_of_readers(reader_count_in(entry.readers))
                                   : holder_text(entry.holder.owner_value),
          entry.holder.since ? utc_text(*entry.holder.since) : "-",
          entry.ttl ? readable(*entry.ttl) : "never expires",
          entry.token ? std::to_string(entry.token->value()) : "-",
          entry.line.empty() ? "-" : std::to_string(entry.line.size()),
          std::to_string(entry.copies) + "/" + std::to_string(nodes)};
}

std::string json_of(const Entry& entry, std::size_t nodes) {
  nlohmann::json json{{"resource", entry.resource},
                      {"state", to_string(entry.state)},
                      {"copies", entry.copies},
                      {"nodes", nodes}};
  add_kind(json, entry.resource, shown_state(entry), entry.holder.owner_value);
  add_holder(json, entry.holder.owner_value);
  if (entry.holder.is_shared()) add_readers(json, entry.readers);
  if (entry.ttl) json["ttl_ms"] = milliseconds_of(*entry.ttl);
  if (entry.token) json["token"] = entry.token->value();
  json["line"] = line_json(entry.line);
  return json_text(json);
}

}  // namespace

int list(const ListArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  ::signal(SIGPIPE, SIG_IGN);
  LockReader reader{nodes};
  const std::size_t number = nodes.endpoints.size();
  Listing table;
  std::vector<Listing::Row> rows{
      {"RESOURCE", "KIND", "HOLDER", "SINCE (UTC)", "TTL", "TOKEN", "IN LINE", "COPIES"}};
  reader.find(arguments.prefix, [&](const std::vector<FoundLock>& portion) {
    for (const FoundLock& lock : portion) {
      Entry entry = entry_of(lock);
      if (lock.has_line || entry.holder.is_shared()) {
        entry.readers = locks.inspect(lock.resource);
        entry.line = line_for(locks, lock.resource, entry.readers);
      }
      if (arguments.json)
        std::cout << json_of(entry, number) << '\n';
      else
        rows.push_back(row_of(entry, number));
    }
    if (!arguments.json) table.print(rows);
    rows.clear();
    return !!std::cout.flush();
  });
  if (!arguments.json) table.print(rows);
  if (!std::cout.flush()) return not_written;  // `main` says why, and knows a pipe that nobody reads
  for (const std::string& failure : reader.failures()) warn(failure);
  if (reader.answering() >= core::quorum(number)) return success;
  std::cerr << "redlock: locks may be missing, because only " << reader.answering() << " of " << number
            << " nodes answered\n";
  return without_majority(reader.misconfigured(), number);
}

}  // namespace redlock::tool
