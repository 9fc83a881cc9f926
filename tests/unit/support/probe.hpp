// An operation that notes what it is told, and does what the story says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/operation/operation.hpp"
#include "redlock/node_report.hpp"
#include "unit/support/recorder.hpp"

namespace redlock::testing {

/// Sends one command to every node at its start, and is done after so many answers, or when it is given up.
class Probe final : public core::Operation {
 public:
  struct Plan {
    std::size_t nodes = 3;
    std::size_t answers = 1;      // after these it is done
    std::size_t connections = 2;  // worth waiting for
    std::string command = "PING";
    bool is_release = false;
  };
  explicit Probe(Plan plan) : plan_{std::move(plan)} {}

  void start(core::Time now, core::Outbox& outbox) override {
    told.emplace_back("start");
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
    told.emplace_back("timed out");
    finish();
  }
  void abandon(Errc why, core::Time, core::Outbox&) override {
    told.emplace_back(why == Errc::timed_out ? "given up" : "abandoned");
    finish();
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return plan_.connections; }

  /// `answered 0 OK`, `disconnected 2 timed out`, …
  std::vector<std::string> told;
  core::Time started_at = core::never;

 private:
  void note(const std::string& what, core::NodeIndex node, std::string_view details) {
    told.emplace_back(what + " " + std::to_string(node) + " " + std::string{details});
  }

  Plan plan_;
};

}  // namespace redlock::testing
