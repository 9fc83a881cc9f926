// An operation that records its events and follows a plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/operation/operation.hpp"
#include "redlock/node_report.hpp"
#include "unit/support/recording_outbox.hpp"

namespace redlock::testing {

/// Sends one command to every node at its start. It is done after `answers` replies, at its deadline or when
/// abandoned.
class RecordingOperation final : public core::Operation {
 public:
  struct Plan {
    std::size_t nodes = 3;
    std::size_t answers = 1;      // replies until it is done
    std::size_t connections = 2;  // to wait for before the start
    std::string command = "PING";
    bool is_release = false;
  };
  explicit RecordingOperation(Plan plan) : plan_{std::move(plan)} {}

  void start(core::Time now, core::Outbox& outbox) override {
    events.emplace_back("start");
    started_at = now;
    set_deadline(now + std::chrono::milliseconds{50});
    for (core::NodeIndex node = 0; node < plan_.nodes; ++node)
      if (const core::Trouble* refused = outbox.send(
              node, plan_.command, *this, {.step = 7, .send_by = deadline(), .is_release = plan_.is_release}))
        note("refused", node, to_string(refused->status));
  }
  void answered(core::NodeIndex node, core::Step step, const core::Reply& reply, core::Time,
                core::Outbox&) override {
    note(step == 7 ? "answered" : "asked something else", node, reply.text);
    if (plan_.answers > 0 && --plan_.answers == 0) finish();
  }
  void disconnected(core::NodeIndex node, const core::Trouble& trouble, core::Time, core::Outbox&) override {
    note("disconnected", node, to_string(trouble.status));
  }
  void timed_out(core::Time, core::Outbox&) override {
    events.emplace_back("timed out");
    finish();
  }
  void abandon(Errc why, core::Time, core::Outbox&) override {
    events.emplace_back(why == Errc::timed_out ? "given up" : "abandoned");
    finish();
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return plan_.connections; }

  /// `answered 0 OK`, `disconnected 2 timed out`, …
  std::vector<std::string> events;
  core::Time started_at = core::never;

 private:
  void note(const std::string& what, core::NodeIndex node, std::string_view details) {
    events.emplace_back(what + " " + std::to_string(node) + " " + std::string{details});
  }

  Plan plan_;
};

}  // namespace redlock::testing
