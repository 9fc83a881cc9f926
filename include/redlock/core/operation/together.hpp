// Several operations at once.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "redlock/core/operation/operation.hpp"

namespace redlock::inline v1::core {

/// Submits operations in one event, so that each node gets the commands of all of them in one batch. Done when all are.
class Together final : public Operation {
 public:
  explicit Together(std::vector<Ref<Operation>> all) : all_{std::move(all)} {}

  void start(Time, Outbox& outbox) override {
    for (const Ref<Operation>& each : all_) {
      each->parent = this;
      outbox.submit(each);
    }
  }
  void answered(NodeIndex, Step, const Reply&, Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  void timed_out(Time, Outbox&) override {}
  void child_ended(Operation&, Time, Outbox&) override {
    if (++ended_ == all_.size()) finish();
  }
  void abandon(Errc why, Time, Outbox& outbox) override {
    for (const Ref<Operation>& each : all_) outbox.abandon(each, why);
  }
  [[nodiscard]] bool sends() const noexcept override { return false; }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }

 private:
  std::vector<Ref<Operation>> all_;
  std::size_t ended_ = 0;
};

}  // namespace redlock::inline v1::core
