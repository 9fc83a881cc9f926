#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "redlock/core/extension.hpp"
#include "redlock/core/quorum.hpp"
#include "redlock/core/trouble.hpp"
#include "simulation/disguise.hpp"
#include "simulation/mutant.hpp"
#include "simulation/wire.hpp"

namespace redlock::simulation {
namespace {

using core::Acquisition;
using core::Claim;
using core::Extension;
using core::NodeIndex;
using core::Operation;
using core::Postage;
using core::Reply;
using core::Step;
using core::Time;

constexpr Step asked = 0;  // the first step of an acquisition and of an extension

bool is_grant(const Reply& reply) {
  return reply.is(Reply::Kind::status) || (reply.is(Reply::Kind::integer) && reply.integer > 0);
}

/// A mutant of one kind of operation, by a disguise that is made of it.
template <class Kind, class Lie>
class Liar : public Mutant {
 public:
  explicit Liar(std::string_view name) : name_{name} {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<Operation> disguise(std::unique_ptr<Operation> operation, std::size_t nodes,
                                                    Aside aside) const override {
    if (!dynamic_cast<Kind*>(operation.get())) return operation;
    return std::make_unique<Lie>(std::move(operation), nodes, std::move(aside));
  }

 private:
  std::string_view name_;
};

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
  const core::Trouble* speak(NodeIndex node, std::string_view command, Postage postage) override {
    const core::Trouble* refused = forward(node, command, postage);
    if (!refused || postage.step != asked || !can_do_without(node)) return refused;
    return nullptr;
  }
  bool lose(NodeIndex node) override { return granted[node] || !can_do_without(node); }
  /// Whether it is left out of the count.
  bool can_do_without(NodeIndex node) {
    silent[node] = true;
    return true;
  }
  void think() override {
    const auto out = static_cast<std::size_t>(std::count(silent.begin(), silent.end(), true));
    if (grants() == 0 || inner().done()) return;
    if (grants() < core::quorum(granted.size() - out)) return;
    for (NodeIndex node = 0; node < silent.size() && !inner().done(); ++node)
      if (silent[node] && !granted[node]) tell(node, asked, highest.integer > 0 ? highest : grant);
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

/// A node that granted is not crossed out when its connection is lost.
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
  const core::Trouble* speak(NodeIndex node, std::string_view command, Postage postage) override {
    return postage.owed ? nullptr : forward(node, command, postage);
  }
};

/// Releases go over connections of their own, where they may overtake what they are to undo.
class ReleasesOvertake final : public Asking {
 public:
  using Asking::Asking;

 private:
  const core::Trouble* speak(NodeIndex node, std::string_view command, Postage postage) override {
    if (!postage.owed) return forward(node, command, postage);
    aside(node, command);
    return nullptr;
  }
};

/// NOSCRIPT is cured by sending the whole script, also when the release is on its way already.
class GrantsBehindReleases final : public Asking {
 public:
  using Asking::Asking;

 private:
  static constexpr Step nobodys = 100;
  const core::Trouble* speak(NodeIndex node, std::string_view command, Postage postage) override {
    if (postage.step == asked) grant_command_ = command;
    is_given_back_ = is_given_back_ || postage.owed;
    return forward(node, command, postage);
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

/// Mutants that need no disguise.
class Careless : public Mutant {
 public:
  explicit Careless(std::string_view name) : name_{name} {}
  [[nodiscard]] std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

class NoElapsedCheck final : public Careless {
 public:
  using Careless::Careless;
  void before_attempt(Claim& claim, const std::string&) const override {
    claim.drift -= std::chrono::hours{1};
  }
  void before_extension(Claim& claim) const override {
    if (claim.drift < core::Span::zero()) claim.drift += std::chrono::hours{1};
  }
  [[nodiscard]] Time deadline(const Acquisition& granted, Time, const Schedule& schedule) const override {
    return core::valid_until(granted.begun(), schedule.ttl, schedule.drift);
  }
  [[nodiscard]] bool looks_at_deadline() const override { return false; }
};

class ValidityFromReplies final : public Careless {
 public:
  using Careless::Careless;
  [[nodiscard]] Time deadline(const Acquisition&, Time now, const Schedule& schedule) const override {
    return core::valid_until(now, schedule.ttl, schedule.drift);
  }
};

class NoDrift final : public Careless {
 public:
  using Careless::Careless;
  void before_attempt(Claim& claim, const std::string&) const override { claim.drift = {}; }
};

class SameOwner : public Careless {
 public:
  using Careless::Careless;
  void before_attempt(Claim& claim, const std::string& previous_owner) const override {
    if (!previous_owner.empty()) claim.owner = previous_owner;
  }
};

class ExtendsAfterDeadline final : public Careless {
 public:
  using Careless::Careless;
  [[nodiscard]] Time extension_limit(Time deadline) const override {
    return deadline + std::chrono::hours{1};
  }
};

class RepairCountsAtOnce final : public Careless {
 public:
  using Careless::Careless;
  void before_extension(Claim& claim) const override { *claim.copies = core::Copies{}; }
};

class Patched : public Careless {
 public:
  Patched(std::string_view name, std::vector<Patch> patches) : Careless{name}, patches_{std::move(patches)} {}
  [[nodiscard]] std::vector<Patch> patches() const override { return patches_; }

 private:
  std::vector<Patch> patches_;
};

/// A second grant to the same owner value, and a confirmation that looks at the owner only.
class GrantsAgain final : public SameOwner {
 public:
  using SameOwner::SameOwner;
  [[nodiscard]] std::vector<Patch> patches() const override {
    return {
        {&core::grant_script,
         "local holder=redis.call('GET',KEYS[1]) "
         "if holder and holder~=ARGV[1] then return {holder,redis.call('PTTL',KEYS[1])} end "
         "local counter=math.max(tonumber(redis.call('GET',KEYS[2]) or 0)+1,tonumber(ARGV[3])) "
         "redis.call('SET',KEYS[2],counter) redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2]) return counter"},
        {&core::confirm_script, confirm_by_owner}};
  }
  static constexpr std::string_view confirm_by_owner =
      "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end redis.call('SET',KEYS[2],ARGV[3]) return 1";
};

std::vector<std::unique_ptr<Mutant>> make() {
  std::vector<std::unique_ptr<Mutant>> all;
  const auto add = [&all](auto mutant) {
    all.push_back(std::make_unique<decltype(mutant)>(std::move(mutant)));
  };
  add(Liar<Acquisition, HalfSuffices>{"half-suffices"});
  add(Liar<Acquisition, OnlyReachableCount>{"only-reachable-count"});
  add(NoElapsedCheck{"no-elapsed-check"});
  add(ValidityFromReplies{"validity-from-replies"});
  add(NoDrift{"no-drift"});
  add(Patched{"blind-delete", {{&core::release_script, "return redis.call('DEL',KEYS[1])"}}});
  add(Patched{"extend-without-owner",
              {{&core::extend_script,
                "if redis.call('PTTL',KEYS[1])<tonumber(ARGV[2]) then redis.call('PEXPIRE',KEYS[1],ARGV[2]) "
                "end return 1"}}});
  add(Liar<Extension, MinorityExtends>{"minority-extends"});
  add(ExtendsAfterDeadline{"extend-after-deadline"});
  add(Patched{"confirm-without-owner",
              {{&core::confirm_script, "redis.call('SET',KEYS[2],ARGV[3]) return 1"}}});
  add(GrantsAgain{"grant-again"});
  add(Liar<Acquisition, UnfoldedGrantsCount>{"unfolded-grants-count"});
  add(SameOwner{"same-owner"});
  add(Liar<Acquisition, NothingIsGivenBack>{"nothing-is-given-back"});
  add(Liar<Acquisition, ReleasesOvertake>{"releases-overtake"});
  add(Liar<Acquisition, GrantsBehindReleases>{"grants-behind-releases"});
  add(RepairCountsAtOnce{"repair-counts-at-once"});
  add(Liar<Acquisition, LostGrantsCount>{"lost-grants-count"});
  return all;
}

}  // namespace

std::span<const std::unique_ptr<Mutant>> mutants() {
  static const std::vector<std::unique_ptr<Mutant>> all = make();
  return all;
}

}  // namespace redlock::simulation
