// What mutants tell the engine and its operations.
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
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "simulation/mutant/disguise.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/world/wire.hpp"

namespace redlock::simulation {

using core::NodeIndex;
using core::Operation;
using core::Reply;
using core::SendOptions;
using core::Step;

inline constexpr Step asked = 0;      // the first step of an acquisition and of an extension
inline constexpr Step nobodys = 100;  // whose answer no operation waits for

inline bool is_grant(const Reply& reply) {
  return reply.is(Reply::Kind::status) || (reply.is(Reply::Kind::integer) && reply.integer > 0);
}

/// What the lies about acquisitions have in common: they know which nodes have granted.
class Asking : public Disguise {
 public:
  Asking(std::unique_ptr<Operation> inner, std::size_t nodes, Mutant::Aside send_aside)
      : Disguise{std::move(inner)}, aside{std::move(send_aside)}, granted(nodes), silent(nodes) {}

 protected:
  void hear(NodeIndex node, Step step, Reply& reply) override {
    if (step != asked || !is_grant(reply)) return;
    granted[node] = true;
    grant = reply;
    if (highest.integer < reply.integer) highest = reply;
  }
  [[nodiscard]] std::size_t grants() const {
    return static_cast<std::size_t>(std::count(granted.begin(), granted.end(), true));
  }

  Mutant::Aside aside;
  std::vector<bool> granted;
  std::vector<bool> silent;  // out of reach
  Reply grant;
  Reply highest;
};

/// N/2 suffices: with one grant fewer than a majority, one denial is taken for a grant.
class HalfSuffices final : public Asking {
 public:
  using Asking::Asking;

 private:
  void hear(NodeIndex node, Step step, Reply& reply) override {
    Asking::hear(node, step, reply);
    const bool is_denial = reply.is(Reply::Kind::nil) || reply.is(Reply::Kind::array);
    if (step != asked || !is_denial || grants() + 1 < core::quorum(granted.size())) return;
    reply = highest.integer > 0 ? highest : grant;
  }
};

/// Nodes out of reach are not counted: their votes are made up until the others have a majority with them.
class OnlyReachableCount final : public Asking {
 public:
  using Asking::Asking;

 private:
  const core::Trouble* speak(NodeIndex node, std::string_view command, SendOptions options) override {
    const core::Trouble* refused = forward(node, command, options);
    if (!refused || options.step != asked) return refused;
    silent[node] = true;
    return nullptr;
  }
  bool lose(NodeIndex node) override {
    silent[node] = true;
    return granted[node];
  }
  void think() override {
    const auto out = static_cast<std::size_t>(std::count(silent.begin(), silent.end(), true));
    if (grants() == 0 || inner().done()) return;
    if (grants() < core::quorum(granted.size() - out)) return;
    for (NodeIndex node = 0; node < silent.size() && !inner().done(); ++node)
      if (silent[node] && !granted[node]) hand_on(node, asked, highest.integer > 0 ? highest : grant);
  }
};

/// A node whose grant came after the token was agreed on acknowledges it, although it was not asked to.
class UnfoldedGrantsCount final : public Asking {
 public:
  using Asking::Asking;

 private:
  void hear(NodeIndex node, Step step, Reply& reply) override {
    const bool agreed = grants() >= core::quorum(granted.size());
    if (step == asked && agreed && reply.is(Reply::Kind::integer)) reply.integer = highest.integer;
    Asking::hear(node, step, reply);
  }
};

/// A node that granted, or extended, is not crossed out when its connection is lost.
class LostGrantsCount final : public Asking {
 public:
  using Asking::Asking;

 private:
  bool lose(NodeIndex node) override { return !granted[node]; }
};

/// What a failed attempt has set stays until it expires.
class NothingIsGivenBack final : public Asking {
 public:
  using Asking::Asking;

 private:
  const core::Trouble* speak(NodeIndex node, std::string_view command, SendOptions options) override {
    return options.owed ? nullptr : forward(node, command, options);
  }
};

/// Releases go over connections of their own, where they may overtake what they are to undo.
class ReleasesOvertake final : public Asking {
 public:
  using Asking::Asking;

 private:
  const core::Trouble* speak(NodeIndex node, std::string_view command, SendOptions options) override {
    if (!options.owed) return forward(node, command, options);
    aside(node, command);
    return nullptr;
  }
};

/// NOSCRIPT is cured by sending the whole script, also when the release is on its way already.
class GrantsBehindReleases final : public Asking {
 public:
  using Asking::Asking;

 private:
  const core::Trouble* speak(NodeIndex node, std::string_view command, SendOptions options) override {
    if (options.step == asked) grant_command_ = command;
    is_given_back_ = is_given_back_ || options.owed;
    return forward(node, command, options);
  }
  void hear(NodeIndex node, Step step, Reply& reply) override {
    if (step != asked || !core::is_noscript(reply) || !is_given_back_) return;
    std::string_view rest = grant_command_;
    std::vector<std::string_view> words;
    take_command(rest, words);
    words[0] = "EVAL";
    words[1] = core::grant_script.source;
    std::string whole;
    core::append_command(whole, words);
    forward(node, whole, {.step = nobodys});
    reply.text = "ERR";
  }

  std::string grant_command_;
  bool is_given_back_ = false;
};

/// One node that has our value speaks for those that do not.
class MinorityExtends final : public Disguise {
 public:
  MinorityExtends(std::unique_ptr<Operation> inner, std::size_t, const Mutant::Aside&)
      : Disguise{std::move(inner)} {}

 private:
  void hear(NodeIndex, Step step, Reply& reply) override {
    if (step != asked || !reply.is(Reply::Kind::integer)) return;
    extended_ = extended_ || reply.integer == 1;
    if (extended_) reply.integer = 1;
  }
  bool extended_ = false;
};

/// Nodes without our value get it back also when there was no majority.
class RepairsAfterFailure final : public Disguise {
 public:
  RepairsAfterFailure(std::unique_ptr<Operation> inner, std::size_t, const Mutant::Aside&)
      : Disguise{std::move(inner)} {}

 private:
  void hear(NodeIndex node, Step step, Reply& reply) override {
    if (step == asked && reply.is(Reply::Kind::integer) && reply.integer == 0) missing_.push_back(node);
  }
  void think() override {
    const auto& extension = static_cast<const core::Extension&>(inner());
    if (!extension.done() || extension.outcome() == core::Extension::Outcome::extended) return;
    for (const NodeIndex node : std::exchange(missing_, {}))
      forward(node, extension.lease().claim.put_back_command(), {.step = nobodys});
  }
  std::vector<NodeIndex> missing_;
};

}  // namespace redlock::simulation
