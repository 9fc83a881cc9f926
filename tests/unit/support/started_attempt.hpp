// An attempt at a lock with a fencing token, whose answers a test gives.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/lock/acquisition.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace redlock::testing {

/// An attempt that has sent its first command to every node.
struct StartedAttempt {
  explicit StartedAttempt(std::size_t nodes,
                          core::Acquisition::Purpose purpose = core::Acquisition::Purpose::try_once)
      : attempt{example_fenced_claim(), nodes, purpose}, outbox{nodes} {
    attempt.start(at(core::Span::zero()), outbox);
    first = outbox.take();
  }
  void answer(core::NodeIndex node, core::Step step, const core::Reply& reply,
              core::Span after = std::chrono::milliseconds{5}) {
    attempt.answered(node, step, reply, at(after), outbox);
  }
  void grant(core::NodeIndex node, long long counter) {
    answer(node, acquisition_steps::asked, number(counter));
  }

  core::Acquisition attempt;
  RecordingOutbox outbox;
  std::vector<Sent> first;
};

}  // namespace redlock::testing
