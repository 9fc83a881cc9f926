// What a client asks the nodes about locks that it need not hold, and how it reports what nodes have answered.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "api/limits.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/lease/asking.hpp"
#include "redlock/core/lease/breaking.hpp"
#include "redlock/core/lease/lease_check.hpp"
#include "redlock/core/line/line_view.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/restart_guard/ceiling_raise.hpp"

namespace redlock::inline v1::detail {

namespace {

using core::NodeIndex;
using core::Tally;

/// Of a lock, as far as can be seen from outside.
Observer::Kind visible_kind(std::string_view resource, bool is_leaders, bool is_shared) noexcept {
  if (is_shared) return Observer::Kind::shared;
  if (is_leaders) return Observer::Kind::leader;
  return core::seat_of(resource) ? Observer::Kind::seat : Observer::Kind::exclusive;
}

bool is_of_leader(std::string_view owner_value) { return Holder{std::string{owner_value}}.is_leader; }

}  // namespace

std::unique_ptr<core::Inspection> Client::inspection_of(std::string_view resource) const {
  check_process();
  return std::make_unique<core::Inspection>(lock_key(options_.key_prefix, resource), names_.size(),
                                            default_wait());
}

std::vector<NodeReport> Client::inspect(std::string_view resource) {
  return shell_->run(inspection_of(resource), {}, [this](const core::Inspection& ended) {
    std::vector<NodeReport> all = reports(ended.tally(), NodeStatus::free);
    for (NodeIndex node = 0; node < all.size(); ++node) {
      all[node].readers = ended.readers(node);
      all[node].reader_count = ended.reader_count(node);
      for (const core::StandingMember& member : ended.line(node))
        all[node].line.push_back({member.client, member.label, member.waited});
    }
    return all;
  });
}

std::vector<NodeReport> Client::revoke(std::string_view resource, std::string_view why) {
  check_process();
  check_why(why);
  auto asking = std::make_unique<core::Asking>(lock_key(options_.key_prefix, resource), std::string{why},
                                               names_.size(), default_wait());
  return shell_->run(std::move(asking), {},
                     [this](const core::Asking& ended) { return reports(ended.tally(), NodeStatus::free); });
}

std::vector<NodeReport> Client::break_lock(std::string_view resource,
                                           std::span<const std::string_view> owner_values) {
  check_process();
  check_broken(owner_values);
  std::string key = lock_key(options_.key_prefix, resource);
  const bool is_leaders = std::ranges::any_of(owner_values, is_of_leader);
  auto breaking = std::make_unique<core::Breaking>(key, owner_values, names_.size(), default_wait());
  bool are_readers = false;
  std::vector<NodeReport> nodes = shell_->run(std::move(breaking), {}, [&](const core::Breaking& ended) {
    are_readers = ended.are_readers();
    return reports(ended.tally(), NodeStatus::free);
  });
  const auto copies = std::ranges::count(nodes, NodeStatus::held, &NodeReport::status);
  if (events_ && copies > 0)
    events_->broken({.resource = std::move(key),
                     .kind = visible_kind(resource, is_leaders, are_readers),
                     .copies = static_cast<std::size_t>(copies)});
  return nodes;
}

SequencerState Client::check(const Sequencer& sequencer, std::vector<NodeReport>* nodes) {
  check_process();
  core::LeaseCheck::Subject subject{lock_key(options_.key_prefix, sequencer.resource()), sequencer.id(),
                                    sequencer.is_shared()};
  auto check = std::make_unique<core::LeaseCheck>(std::move(subject), names_.size(), default_wait());
  return shell_->run(std::move(check), {}, [this, nodes](const core::LeaseCheck& ended) {
    if (nodes) *nodes = reports(ended.tally(), NodeStatus::free);
    return ended.state();
  });
}

core::Holding Client::holder(std::string_view resource) {
  return shell_->run(inspection_of(resource), {}, [this](const core::Inspection& ended) {
    const Tally& tally = ended.tally();
    if (auto seen = ended.holding()) return std::move(*seen);
    Failure failure =
        explain(tally.is_hopeless() ? Errc::misconfigured : Errc::no_quorum, tally, NodeStatus::free);
    throw Error{failure.code, failure.details, std::move(failure.nodes)};
  });
}

const core::HolderWatch* Client::watch_holder(std::string_view resource, core::HolderWatch::Report report) {
  check_process();
  auto watch = std::make_unique<core::HolderWatch>(lock_key(options_.key_prefix, resource), names_.size(),
                                                   std::move(report));
  const core::HolderWatch* const name = watch.get();
  shell_->losses().begin();
  shell_->watch_holder(std::move(watch));
  return name;
}

bool Client::stop_watching(const core::HolderWatch* watch) noexcept {
  if (fork_generation() != generation_) return false;
  shell_->stop_watching(watch);
  return true;
}

std::chrono::nanoseconds Client::raise_max_ttl(Duration max_ttl) {
  check_process();
  check_max_ttl(max_ttl);
  if (options_.restart_guard == RestartGuard::off)
    throw Error{Errc::invalid_argument, "restart_guard is off, so the nodes have no max_ttl"};
  auto raise =
      std::make_unique<core::CeilingRaise>(std::chrono::ceil<std::chrono::milliseconds>(max_ttl.get()),
                                           names_.size(), options_.durable_nodes, default_wait());
  return shell_->run(std::move(raise), {}, [&](const core::CeilingRaise& ended) -> std::chrono::nanoseconds {
    const Tally& tally = ended.tally();
    if (tally.count(Tally::Mark::yes) == tally.nodes()) return ended.max_ttl();
    const std::vector<NodeReport> all = reports(tally, NodeStatus::granted);
    std::vector<NodeReport> failed;
    for (NodeIndex node = 0; node < all.size(); ++node)
      if (tally.is(node, Tally::Mark::unknown)) failed.push_back(all[node]);
    throw Error{tally.misconfigured() > 0 ? Errc::misconfigured : Errc::no_quorum,
                "max_ttl was not raised, because that takes all " + std::to_string(tally.nodes()) +
                    " nodes with their markers; try again when these are well",
                std::move(failed)};
  });
}

Client::Failure Client::explain(Errc code, const Tally& tally, NodeStatus yes) const {
  std::string details = std::to_string(tally.votes()) + " of " + std::to_string(tally.nodes()) +
                        " nodes voted, " + std::to_string(core::quorum(tally.nodes())) + " needed";
  const std::optional<core::Span> wait = code == Errc::no_quorum ? tally.majority_votes_in() : std::nullopt;
  if (wait && *wait > core::Span::zero())
    details.append("; enough nodes vote again in ")
        .append(core::readable(std::chrono::ceil<std::chrono::milliseconds>(*wait)))
        .append(": wait, or let calls wait with node_wait");
  std::vector<NodeReport> all = reports(tally, yes);
  const auto names_nobody = [](const NodeReport& report) {
    return report.status == NodeStatus::held && !report.owner && !report.message.empty();
  };
  if (code == Errc::held && !holder_of(all) && std::any_of(all.begin(), all.end(), names_nobody))
    details.append("; others stand in line for it");
  return {code, details, std::move(all)};
}

std::vector<NodeReport> Client::reports(const Tally& tally, NodeStatus yes) const {
  std::vector<NodeReport> reports;
  reports.reserve(tally.nodes());
  for (NodeIndex node = 0; node < tally.nodes(); ++node) {
    const Tally::Ballot& ballot = tally[node];
    NodeReport& report = reports.emplace_back(NodeReport{names_[node], yes, {}, ballot.owner, ballot.ttl});
    if (ballot.counter) report.counter = FencingToken{*ballot.counter};
    if (ballot.mark == Tally::Mark::no) report.status = NodeStatus::held;
    if (ballot.mark == Tally::Mark::unknown) report.status = ballot.trouble.status;
    report.message = core::printable(ballot.trouble.message, std::string::npos);
    report.votes_in = ballot.trouble.votes_in;
    if (ballot.mark != Tally::Mark::pending) continue;
    report.status = NodeStatus::not_awaited;
    report.message = "the call ended before the node answered";
  }
  return reports;
}

}  // namespace redlock::inline v1::detail
