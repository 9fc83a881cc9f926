#include "tool/locks/release.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"
#include "tool/semaphore/seats.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using Reports = std::vector<NodeReport>;

constexpr std::size_t shortest_beginning = 8;  // as `status` and `list` show it

constexpr std::chrono::seconds answer_time{2};  // with slow nodes: nobody is in a hurry

/// Whose copies are to be deleted: one who holds the lock alone, or readers.
struct Owners {
  std::set<std::string> values = {};
  bool are_readers = false;
};

/// All readers on any of the nodes.
std::set<std::string> readers_on(const Reports& reports) {
  std::set<std::string> readers;
  for (const NodeReport& report : reports) readers.insert(report.readers.begin(), report.readers.end());
  return readers;
}

/// The one owner value on the nodes that begins with this text; empty if there is none.
Owners owner_beginning_with(const std::string& text, const Reports& reports) {
  if (text.size() < shortest_beginning)
    throw Error{Errc::invalid_argument, "--owner needs the owner value, or at least its first " +
                                            std::to_string(shortest_beginning) + " characters"};
  const std::set<std::string> readers = readers_on(reports);
  std::set<std::string> owners = readers;
  for (const NodeReport& report : reports)
    if (report.owner && !report.owner->starts_with("redlock:")) owners.insert(*report.owner);
  std::erase_if(owners, [&text](const std::string& owner) { return !owner.starts_with(text); });
  if (owners.contains(text)) return {{text}, readers.contains(text)};
  if (owners.size() > 1)
    throw Error{Errc::invalid_argument,
                "several owner values begin with " + printable(text) + ": give more of it"};
  return {owners, !owners.empty() && readers.contains(*owners.begin())};
}

/// The readers that at least half of the nodes name. What a minority names may be invented.
Owners readers_of(const Reports& reports) {
  Owners readers{.are_readers = true};
  for (const Holder& reader : readers_in(reports)) readers.values.insert(reader.owner_value);
  return readers;
}

/// Whoever holds the lock; none if nobody does, or nobody knows.
Owners owners_in(const LockState& state, const Reports& reports) {
  if (state.kind == LockState::Kind::shared) return readers_of(reports);
  return state.kind == LockState::Kind::held ? Owners{{state.owner}} : Owners{};
}

/// Writes who would lose the lock, and asks. Returns true if the answer is yes.
bool is_wanted(const ReleaseArguments& arguments, const LockState& state, const Reports& reports) {
  if (!arguments.yes && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1))
    throw Error{Errc::invalid_argument,
                "there is no terminal to ask on: name the holder with --owner, or give --yes"};
  std::cerr << printable(describe(state, arguments.resource, reports), std::string::npos) << '\n';
  if (arguments.yes) return true;
  std::cerr
      << (state.kind == LockState::Kind::shared ? "The readers lose" : "The holder loses")
      << " the lock at once. redlock run then kills its command; another program may go on working for a "
         "moment.\nRelease it? [y/N] "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// What became of the copies.
struct Deletion {
  explicit Deletion(const Reports& reports) {
    for (const NodeReport& report : reports) {
      const bool was_deleted = report.status == NodeStatus::held;
      deleted += was_deleted ? 1 : 0;
      if (was_deleted || report.status == NodeStatus::free) {
        ++answered;
        continue;
      }
      misconfigured += is_misconfiguration(report.status) ? 1 : 0;
      const std::string reason =
          report.message.empty() ? std::string{to_string(report.status)} : report.message;
      failures.push_back(report.node + ": " + reason);
    }
  }
  std::size_t deleted = 0;
  std::size_t answered = 0;
  std::size_t misconfigured = 0;
  std::vector<std::string> failures = {};
};

/// Deletes the copies of as many owners as the library takes at a time.
Deletion delete_copies(Redlock& locks, const std::string& resource, const Owners& owners) {
  std::vector<std::string_view> first{owners.values.begin(), owners.values.end()};
  if (first.size() > core::most_named_readers) first.resize(core::most_named_readers);
  return Deletion{locks.break_lock(resource, first)};
}

/// Deletes the copies of all readers, of which there were so many. The nodes name 100 of them at a time. Makes no more rounds than
/// nodes need that tell the truth. `owners`: those who are named, and then all whose copies were deleted.
Deletion delete_readers(Redlock& locks, const std::string& resource, std::size_t count, Owners& owners) {
  Deletion result = delete_copies(locks, resource, owners);
  for (std::size_t round = 0; round < count / 50; ++round) {
    Owners others = readers_of(locks.inspect(resource));
    if (others.values.empty()) break;
    const Deletion next = delete_copies(locks, resource, others);
    if (next.deleted == 0) break;
    result = next;
    owners.values.merge(others.values);
  }
  return result;
}

/// What was released: the lock of its holder, or copies that were no lock.
std::string describe_deletion(const Deletion& result, LockState::Kind before, const std::string& resource,
                              const std::string& holder) {
  if (before == LockState::Kind::held) return "Released " + resource + ", held by " + holder;
  if (before == LockState::Kind::shared) return "Released " + resource + " for " + holder;
  if (before == LockState::Kind::unknown) return "Released " + resource + ", perhaps held by " + holder;
  return "Removed " + std::to_string(result.deleted) + " stray " + (result.deleted == 1 ? "copy" : "copies") +
         " of " + resource + ", which nobody held, of " + holder;
}

/// The holder, or the readers.
std::string text_of(const Owners& owners) {
  if (owners.are_readers) return names_of(std::vector<Holder>(owners.values.begin(), owners.values.end()));
  std::ostringstream holder;
  holder << Holder{*owners.values.begin()};
  return holder.str();
}

int report(const Deletion& result, std::size_t nodes, LockState::Kind before, const std::string& resource,
           const Owners& owners) {
  for (const std::string& failure : result.failures) warn(failure);
  const std::string holder = text_of(owners);
  // A node that answered has no copy any more. The others may keep theirs until the holder ends, or the copies expire.
  const std::string copies = std::to_string(result.answered) + " of " + std::to_string(nodes) + " nodes";
  if (result.answered < core::quorum(nodes)) {
    std::cerr << "redlock: too few nodes answered, so " << holder << " may still hold " << printable(resource)
              << "; its copies are gone from " << copies << '\n';
    return without_majority(result.misconfigured, nodes);
  }
  if (result.deleted == 0) {
    std::cerr << "redlock: nothing to release: " << printable(resource) << " is no longer held by " << holder
              << '\n';
    return conflict;
  }
  std::cout << describe_deletion(result, before, printable(resource), holder) << ": its copies are gone from "
            << copies << ".\n";
  return success;
}

/// After the state of the lock, if nobody's copies can be deleted.
std::string why_nothing(Redlock& locks, const ReleaseArguments& arguments, const LockState& state) {
  if (arguments.owner) return " No node has a copy with the owner value of --owner.";
  if (state.kind == LockState::Kind::shared) return " No node says who the readers are.";
  if (state.kind != LockState::Kind::free) return {};
  return describe_seats(arguments.resource, taken_among_first(locks, arguments.resource));
}

/// Returns true if the lock is not that of the owner, or not shared by it.
bool is_of_others(const LockState& state, const Owners& owners) {
  if (state.kind == LockState::Kind::held) return !owners.values.contains(state.owner);
  return state.kind == LockState::Kind::shared && !owners.are_readers;
}

}  // namespace

int force_release(const ReleaseArguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  Nodes nodes = choose_nodes(arguments.nodes);
  nodes.options.node_timeout = answer_time;
  nodes.options.connect_timeout = answer_time;
  Redlock locks{nodes.endpoints, nodes.options};
  const Reports reports = locks.inspect(arguments.resource);
  const LockState state = lock_state_of(reports);
  Owners owners =
      arguments.owner ? owner_beginning_with(*arguments.owner, reports) : owners_in(state, reports);
  if (owners.values.empty()) {
    std::cerr << "redlock: nothing to release: "
              << printable(
                     describe(state, arguments.resource, reports) + why_nothing(locks, arguments, state),
                     std::string::npos)
              << '\n';
    if (state.kind != LockState::Kind::unknown) return conflict;
    write_reports(std::cerr, reports);
    return without_majority(misconfigured(reports), reports.size());
  }
  if (is_of_others(state, owners)) {
    std::cerr << "redlock: released nothing: "
              << printable(describe(state, arguments.resource, reports), std::string::npos)
              << " The owner value of --owner is "
              << (state.kind == LockState::Kind::shared ? "no reader's.\n" : "not the holder's.\n");
    return conflict;
  }
  if (!arguments.owner && !is_wanted(arguments, state, reports)) {
    std::cerr << "redlock: released nothing\n";
    return conflict;
  }
  const Deletion result = owners.are_readers && !arguments.owner
                              ? delete_readers(locks, arguments.resource, reader_count_in(reports), owners)
                              : delete_copies(locks, arguments.resource, owners);
  return report(result, nodes.endpoints.size(), state.kind, arguments.resource, owners);
}

}  // namespace redlock::tool
