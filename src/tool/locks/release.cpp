#include "tool/locks/release.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <iostream>
#include <set>
#include <sstream>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/patience.hpp"
#include "tool/probe/dialogue.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using Reports = std::vector<NodeReport>;

constexpr std::size_t shortest_beginning = 8;  // as `status` and `list` show it

constexpr std::chrono::seconds answer_time{2};  // with slow nodes: nobody is in a hurry

/// The one owner value on the nodes that begins with this text; empty if there is none.
std::string owner_beginning_with(const std::string& text, const Reports& reports) {
  if (text.size() < shortest_beginning)
    throw Error{Errc::invalid_argument, "--owner needs the owner value, or at least its first " +
                                            std::to_string(shortest_beginning) + " characters"};
  std::set<std::string> owners;
  for (const NodeReport& report : reports)
    if (report.owner && report.owner->starts_with(text) && !Holder{*report.owner}.is_kept())
      owners.insert(*report.owner);
  if (owners.contains(text)) return text;
  if (owners.size() > 1)
    throw Error{Errc::invalid_argument,
                "several owner values begin with " + printable(text) + ": give more of it"};
  return owners.empty() ? "" : *owners.begin();
}

/// Writes who would lose the lock, and asks. Returns true if the answer is yes.
bool is_wanted(const ReleaseArguments& arguments, const LockState& state, const Reports& reports) {
  if (!arguments.yes && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1))
    throw Error{Errc::invalid_argument,
                "there is no terminal to ask on: name the holder with --owner, or give --yes"};
  std::cerr << printable(describe(state, arguments.resource, reports), std::string::npos) << '\n';
  if (arguments.yes) return true;
  std::cerr
      << "The holder loses the lock at once. redlock run then kills its command; another program may go on "
         "working for a moment.\nRelease it? [y/N] "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// What became of the copies.
struct Deletion {
  std::size_t deleted = 0;
  std::size_t answered = 0;
  std::size_t misconfigured = 0;
  std::vector<std::string> failures = {};
};

/// What one node said.
struct Answer {
  bool was_deleted = false;
  std::optional<core::Trouble> failure = {};
};

Answer delete_copy(const Endpoint& node, const std::string& command) {
  Dialogue dialogue{node, patience};
  if (!dialogue.connect() || !dialogue.log_in()) return {.failure = dialogue.trouble()};
  dialogue.send(command);
  const std::vector<core::Reply> replies = dialogue.receive(1);
  if (dialogue.has_failed()) return {.failure = dialogue.trouble()};
  if (!replies.front().is(core::Reply::Kind::integer))
    return {.failure = core::trouble_of(replies.front(), "a number")};
  return {.was_deleted = replies.front().integer == 1};
}

/// Asks all nodes at the same time, so that one that hangs does not delay the others.
Deletion delete_copies(const Nodes& nodes, const std::string& resource, const std::string& owner) {
  const std::string command =
      core::command({"EVAL", core::release_script.source, "1", nodes.options.key_prefix + resource, owner});
  const std::vector<Endpoint> endpoints = with_login(nodes);
  std::vector<std::future<Answer>> answers;
  for (const Endpoint& node : endpoints)
    answers.push_back(std::async(std::launch::async, delete_copy, std::cref(node), std::cref(command)));
  Deletion result;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    const Answer answer = answers[node].get();
    if (!answer.failure) {
      result.deleted += answer.was_deleted ? 1 : 0;
      ++result.answered;
      continue;
    }
    result.misconfigured += is_misconfiguration(answer.failure->status) ? 1 : 0;
    result.failures.push_back(nodes.endpoints[node].to_string() + ": " + printable(answer.failure->message));
  }
  return result;
}

/// What was released: the lock of its holder, or copies that were no lock.
std::string describe_deletion(const Deletion& result, LockState::Kind before, const std::string& resource,
                              const std::string& holder) {
  if (before == LockState::Kind::held) return "Released " + resource + ", held by " + holder;
  if (before == LockState::Kind::unknown) return "Released " + resource + ", perhaps held by " + holder;
  return "Removed " + std::to_string(result.deleted) + " stray " + (result.deleted == 1 ? "copy" : "copies") +
         " of " + resource + ", which nobody held, of " + holder;
}

int report(const Deletion& result, std::size_t nodes, LockState::Kind before, const std::string& resource,
           const std::string& owner) {
  for (const std::string& failure : result.failures)
    std::cerr << "redlock: warning: " << printable(failure, std::string::npos) << '\n';
  std::ostringstream holder;
  holder << Holder{owner};
  // A node that answered has no copy any more: when the holder notices its loss, it deletes the rest itself.
  const std::string copies = std::to_string(result.answered) + " of " + std::to_string(nodes) + " nodes";
  if (result.answered < core::quorum(nodes)) {
    std::cerr << "redlock: too few nodes answered, so " << holder.str() << " may still hold "
              << printable(resource) << "; its copies are gone from " << copies << '\n';
    return without_majority(result.misconfigured, nodes);
  }
  if (result.deleted == 0) {
    std::cerr << "redlock: nothing to release: " << holder.str() << " no longer holds " << printable(resource)
              << '\n';
    return conflict;
  }
  std::cout << describe_deletion(result, before, printable(resource), holder.str())
            << ": its copies are gone from " << copies << ".\n";
  return success;
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
  const std::string owner = arguments.owner ? owner_beginning_with(*arguments.owner, reports) : state.owner;
  if (owner.empty()) {
    std::cerr << "redlock: nothing to release: "
              << printable(describe(state, arguments.resource, reports), std::string::npos)
              << (arguments.owner ? " No node has a copy with the owner value of --owner." : "") << '\n';
    return state.kind == LockState::Kind::unknown ? without_majority(misconfigured(reports), reports.size())
                                                  : conflict;
  }
  if (state.kind == LockState::Kind::held && owner != state.owner) {
    std::cerr << "redlock: released nothing: "
              << printable(describe(state, arguments.resource, reports), std::string::npos)
              << " The owner value of --owner is not the holder's.\n";
    return conflict;
  }
  if (!arguments.owner && !is_wanted(arguments, state, reports)) {
    std::cerr << "redlock: released nothing\n";
    return conflict;
  }
  return report(delete_copies(nodes, arguments.resource, owner), nodes.endpoints.size(), state.kind,
                arguments.resource, owner);
}

}  // namespace redlock::tool
