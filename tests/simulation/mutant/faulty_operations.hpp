// Operation wrappers of mutants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/lease_check.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/mutant/operation_wrapper.hpp"

namespace redlock::simulation {

using core::NodeIndex;
using core::Operation;
using core::Reply;
using core::SendOptions;
using core::Step;

inline constexpr Step first_step = 0;   // of an acquisition and of an extension
inline constexpr Step unawaited = 100;  // no operation waits for its answer

inline bool is_grant(const Reply& reply) {
  return reply.is(Reply::Kind::status) || (reply.is(Reply::Kind::integer) && reply.integer > 0);
}

/// Base class for faulty acquisitions. It knows which nodes have granted.
class FaultyAcquisition : public OperationWrapper {
 public:
  FaultyAcquisition(std::unique_ptr<Operation> inner, std::size_t nodes, Mutant::SendSeparately sender)
      : OperationWrapper{std::move(inner)},
        send_separately{std::move(sender)},
        granted(nodes),
        unreachable(nodes) {}

 protected:
  void change_reply(NodeIndex node, Step step, Reply& reply) override {
    if (step != first_step || !is_grant(reply)) return;
    granted[node] = true;
    grant = reply;
    if (highest.integer < reply.integer) highest = reply;
  }
  [[nodiscard]] std::size_t grants() const {
    return static_cast<std::size_t>(std::count(granted.begin(), granted.end(), true));
  }

  Mutant::SendSeparately send_separately;
  std::vector<bool> granted;
  std::vector<bool> unreachable;
  Reply grant;
  Reply highest;
};

/// N/2 grants suffice: with one grant fewer than a majority, one denial counts as a grant.
class HalfSuffices final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  void change_reply(NodeIndex node, Step step, Reply& reply) override {
    FaultyAcquisition::change_reply(node, step, reply);
    const bool is_denial = reply.is(Reply::Kind::nil) || reply.is(Reply::Kind::array);
    if (step != first_step || !is_denial || grants() + 1 < core::quorum(granted.size())) return;
    reply = highest.integer > 0 ? highest : grant;
  }
};

/// Unreachable nodes do not count: if most of the other nodes grant, the grants of the unreachable ones are invented.
class OnlyReachableCount final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    const core::Trouble* refused = forward(node, command, options);
    if (!refused || options.step != first_step) return refused;
    unreachable[node] = true;
    return nullptr;
  }
  bool passes_disconnection(NodeIndex node) override {
    unreachable[node] = true;
    return granted[node];
  }
  void after_event() override {
    const auto out = static_cast<std::size_t>(std::count(unreachable.begin(), unreachable.end(), true));
    if (grants() == 0 || inner().done()) return;
    if (grants() < core::quorum(granted.size() - out)) return;
    for (NodeIndex node = 0; node < unreachable.size() && !inner().done(); ++node)
      if (unreachable[node] && !granted[node])
        deliver_reply(node, first_step, highest.integer > 0 ? highest : grant);
  }
};

/// A grant that arrives after the agreement on the token counts as a confirmation, although the node was not asked for one.
class UnfoldedGrantsCount final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  void change_reply(NodeIndex node, Step step, Reply& reply) override {
    const bool agreed = grants() >= core::quorum(granted.size());
    if (step == first_step && agreed && reply.is(Reply::Kind::integer)) reply.integer = highest.integer;
    FaultyAcquisition::change_reply(node, step, reply);
  }
};

/// A grant or an extension still counts after the connection to its node is lost.
class LostGrantsCount final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  bool passes_disconnection(NodeIndex node) override { return !granted[node]; }
};

/// Copies of a failed attempt stay until they expire.
class NothingIsGivenBack final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    return options.is_release ? nullptr : forward(node, command, options);
  }
};

/// Releases use separate connections, where they may overtake the commands that they must undo.
class ReleasesOvertake final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    if (!options.is_release) return forward(node, command, options);
    send_separately(node, command);
    return nullptr;
  }
};

/// A node may have the marker of any node of the deployment.
class TakesAnyNodesMarker final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    std::string whole{command};
    if (std::exchange(options.lacks_marker, false))
      whole += core::RequiredMarker{outbox().required_marker(node).beginning, {}}.arguments();
    return forward(node, whole, options);
  }
};

/// A node is asked although it lost its data not long ago.
class AsksInQuarantine final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    options.grants = false;  // so the restart guard does not keep it back
    return forward(node, command, options);
  }
};

/// After NOSCRIPT the whole script is sent, even if the release is already sent.
class GrantsBehindReleases final : public FaultyAcquisition {
 public:
  using FaultyAcquisition::FaultyAcquisition;

 private:
  const core::Trouble* send_command(NodeIndex node, std::string_view command, SendOptions options) override {
    if (options.step == first_step) {
      grant_command_ = command;
      lacks_marker_ = options.lacks_marker;
    }
    is_given_back_ = is_given_back_ || options.is_release;
    return forward(node, command, options);
  }
  void change_reply(NodeIndex node, Step step, Reply& reply) override {
    if (step != first_step || !core::is_noscript(reply) || !is_given_back_) return;
    std::string complete = grant_command_;
    if (lacks_marker_) complete += outbox().required_marker(node).arguments();
    std::string_view rest = complete;
    std::vector<std::string_view> words;
    core::take_command(rest, words);
    words[0] = "EVAL";
    words[1] = core::grant_script.source;
    std::string whole;
    core::append_command(whole, words);
    forward(node, whole, {.step = unawaited});
    reply.text = "ERR";
  }

  std::string grant_command_;
  bool lacks_marker_ = false;
  bool is_given_back_ = false;
};

/// After one node has extended the lease, nodes without the value count as extended too.
class MinorityExtends final : public OperationWrapper {
 public:
  MinorityExtends(std::unique_ptr<Operation> inner, std::size_t, const Mutant::SendSeparately&)
      : OperationWrapper{std::move(inner)} {}

 private:
  void change_reply(NodeIndex, Step step, Reply& reply) override {
    if (step != first_step || !reply.is(Reply::Kind::integer)) return;
    extended_ = extended_ || reply.integer == 1;
    if (extended_) reply.integer = 1;
  }
  bool extended_ = false;
};

/// After one node has shown a copy of the lease that is checked, all others count as if they had.
class OneNodeSuffices final : public OperationWrapper {
 public:
  OneNodeSuffices(std::unique_ptr<Operation> inner, std::size_t, const Mutant::SendSeparately&)
      : OperationWrapper{std::move(inner)} {}

 private:
  void change_reply(NodeIndex, Step, Reply& reply) override {
    const auto& check = static_cast<const core::LeaseCheck&>(inner());
    if (shown_.empty() && reply.text.starts_with(check.subject().id)) shown_ = reply.text;
    if (!shown_.empty() && reply.is(Reply::Kind::string)) reply.text = shown_;
  }
  std::string shown_;
};

/// Nodes without the value get it back even if the extension had no majority.
class RepairsAfterFailure final : public OperationWrapper {
 public:
  RepairsAfterFailure(std::unique_ptr<Operation> inner, std::size_t, const Mutant::SendSeparately&)
      : OperationWrapper{std::move(inner)} {}

 private:
  void change_reply(NodeIndex node, Step step, Reply& reply) override {
    if (step == first_step && reply.is(Reply::Kind::integer) && reply.integer == 0) missing_.push_back(node);
  }
  void after_event() override {
    const auto& extension = static_cast<const core::Extension&>(inner());
    if (!extension.done() || extension.outcome() == core::Extension::Outcome::extended) return;
    for (const NodeIndex node : std::exchange(missing_, {}))
      forward(node, extension.lease().claim.put_back_command(), {.step = unawaited});
  }
  std::vector<NodeIndex> missing_;
};

}  // namespace redlock::simulation
