// One attempt at several locks.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Acquires all of several locks, or none: one `Acquisition` for each, all of which begin in the same event, so that each node
/// gets their commands in one batch and all are valid until the same time. The first one that fails ends the attempt:
/// those under way are abandoned, and those that were granted are given back.
class JointAcquisition : public Operation {
 public:
  JointAcquisition(std::vector<Claim>&& claims, std::size_t nodes, Acquisition::Purpose purpose) {
    parts_.reserve(claims.size());
    for (Claim& claim : claims)
      parts_.push_back(Ref<Acquisition>{new Acquisition{std::move(claim), nodes, purpose}});
  }

  void start(Time, Outbox& outbox) override {
    for (const Ref<Acquisition>& part : parts_) {
      if (failure_) return;  // an earlier one has ended this attempt
      part->parent = this;
      ++submitted_;
      outbox.submit(operation(part));
    }
  }
  void answered(NodeIndex, Step, const Reply&, Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  void timed_out(Time, Outbox&) override {}
  void child_ended(Operation& child, Time now, Outbox& outbox) override {
    if (failure_) return;
    std::size_t which = 0;
    while (parts_[which].get() != &child) ++which;
    if (const std::optional<Errc> why = parts_[which]->failure()) return fail(which, *why, now, outbox);
    if (++granted_ == parts_.size()) finish();
  }
  void abandon(Errc why, Time now, Outbox& outbox) override {
    if (done()) return;
    std::size_t which = 0;
    while (parts_[which]->granted()) ++which;
    fail(which, why, now, outbox);
  }
  [[nodiscard]] bool sends() const noexcept override { return false; }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override {
    return parts_.front()->wanted_ttl();
  }

  // ── once done ────────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] bool granted() const noexcept { return done() && !failure_; }
  /// Why it failed, and at which lock; none if all were granted.
  [[nodiscard]] std::optional<Errc> failure() const noexcept { return failure_; }
  [[nodiscard]] std::size_t failed_at() const noexcept { return failed_at_; }
  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  [[nodiscard]] Acquisition& operator[](std::size_t which) const noexcept { return *parts_[which]; }

 protected:
  /// Called for each lock that was granted if another one was not.
  virtual void give_back(Acquisition& granted, Time now, Outbox& outbox) { granted.take_back(now, outbox); }

 private:
  static Ref<Operation> operation(const Ref<Acquisition>& part) { return Ref<Operation>{part.get()}; }

  void fail(std::size_t which, Errc why, Time now, Outbox& outbox) {
    failure_ = why;
    failed_at_ = which;
    for (std::size_t each = 0; each < submitted_; ++each) {
      Acquisition& part = *parts_[each];
      if (part.granted())
        give_back(part, now, outbox);
      else
        outbox.abandon(operation(parts_[each]), why);
    }
    finish();
  }

  std::vector<Ref<Acquisition>> parts_;
  std::size_t submitted_ = 0;
  std::size_t granted_ = 0;
  std::size_t failed_at_ = 0;
  std::optional<Errc> failure_;
};

}  // namespace redlock::inline v1::core
