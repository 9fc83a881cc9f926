// The nodes and listeners of a client, as its lines see them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/engine/nodes.hpp"
#include "redlock/core/line/gate_trust.hpp"
#include "redlock/core/line/line_context.hpp"
#include "redlock/core/line/lines.hpp"
#include "redlock/core/watch/listeners.hpp"
#include "redlock/core/watch/watcher.hpp"

namespace redlock::inline v1::core {

/// Between the lines of a client and its nodes: answers what the lines ask, and tells them what the listeners hear.
class LineNodes final : public LineContext, public Watcher {
 public:
  LineNodes(Nodes& nodes, Listeners& listeners, std::string member, const LineTimes& times,
            std::uint64_t seed)
      : nodes_{nodes},
        listeners_{listeners},
        times_{times},
        random_{seed},
        trust_(nodes.size()),
        lines_{std::move(member), nodes.size(), *this} {
    listeners_.add(*this);
  }

  [[nodiscard]] Lines& lines() noexcept { return lines_; }
  [[nodiscard]] const Lines& lines() const noexcept { return lines_; }

  // ── for the lines ────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] const LineTimes& times() const noexcept override { return times_; }
  [[nodiscard]] bool is_ready(NodeIndex node) const override { return nodes_.session(node).ready(); }
  [[nodiscard]] bool may_grant(NodeIndex node, std::chrono::milliseconds ttl) override {
    return nodes_.may_grant(node, ttl);
  }
  [[nodiscard]] std::string_view server(NodeIndex node) const override {
    const Session& session = nodes_.session(node);
    return session.run_id().empty() ? session.name() : session.run_id();
  }
  void contradicted(NodeIndex node, Time now) override {
    if (trust_[node].contradicted(now, times_.flag_life()))
      lines_.warn_of_disorder(nodes_.session(node).name());
  }
  [[nodiscard]] bool is_distrusted(NodeIndex node, Time now) const override {
    return trust_[node].is_lost(now);
  }
  [[nodiscard]] bool hears(NodeIndex node) const override { return listeners_.session(node).hears_turns(); }
  [[nodiscard]] bool is_blind(NodeIndex node) const override { return listeners_.is_blind(node); }
  void begin_listening() override { listeners_.begin_watch(); }
  void end_listening() override { listeners_.end_watch(); }
  void wake_listeners(Time now) override { listeners_.wake(now); }
  bool arm(NodeIndex node, Operation& sender, Step tracking, Step caching, Outbox& outbox) override {
    return listeners_.arm(node, sender, tracking, caching, outbox);
  }
  void tracking_refused(NodeIndex node, const Trouble& trouble, Time now) override {
    listeners_.tracking_refused(node, trouble, now);
  }
  [[nodiscard]] std::uint64_t random() override { return next_random(random_); }

  // ── from the listeners ───────────────────────────────────────────────────────────────────────────────────

  void key_changed(NodeIndex node, std::string_view key, Time) override { lines_.key_changed(node, key); }
  void all_keys_changed(NodeIndex node, Time) override { lines_.unheard(node); }
  void message(NodeIndex node, std::string_view /*channel*/, std::string_view payload, Time) override {
    lines_.message(node, payload);
  }

 private:
  Nodes& nodes_;
  Listeners& listeners_;
  const LineTimes times_;
  std::uint64_t random_;
  std::vector<GateTrust> trust_;
  Lines lines_;
};

}  // namespace redlock::inline v1::core
