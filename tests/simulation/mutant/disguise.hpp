// Something between the engine and an operation, which each takes for the other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/operation.hpp"

namespace redlock::simulation {

/// Passes everything on. Mutants derive from it, and lie.
class Disguise : public core::Operation, private core::Outbox {
 public:
  explicit Disguise(std::unique_ptr<core::Operation> inner) : inner_{inner.release()} {
    give_up_at = inner_->give_up_at;
  }

  void start(core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->start(now, *this); });
  }
  void answered(core::NodeIndex node, core::Step step, const core::Reply& reply, core::Time now,
                core::Outbox& outbox) override {
    pass(now, outbox, [&] {
      core::Reply told = reply;
      hear(node, step, told);
      hand_on(node, step, told);
    });
  }
  void disconnected(core::NodeIndex node, const core::Trouble& trouble, core::Time now,
                    core::Outbox& outbox) override {
    pass(now, outbox, [&] {
      if (lose(node)) inner_->disconnected(node, trouble, now_, *this);
    });
  }
  void timed_out(core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->timed_out(now, *this); });
  }
  void abandon(Errc why, core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->abandon(why, now, *this); });
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t nodes) const override {
    return inner_->connections_wanted(nodes);
  }
  [[nodiscard]] bool wants_grants() const noexcept override { return inner_->wants_grants(); }

 protected:
  /// A reply, before the operation gets it; to be changed at will.
  virtual void hear(core::NodeIndex, core::Step, core::Reply&) {}
  /// Whether the operation is to hear of the loss.
  virtual bool lose(core::NodeIndex) { return true; }
  /// A command, on its way out.
  virtual const core::Trouble* speak(core::NodeIndex node, std::string_view command,
                                     core::SendOptions options) {
    return forward(node, command, options);
  }
  /// After each event.
  virtual void think() {}

  void hand_on(core::NodeIndex node, core::Step step, const core::Reply& reply) {
    inner_->answered(node, step, reply, now_, *this);
  }
  const core::Trouble* forward(core::NodeIndex node, std::string_view command, core::SendOptions options) {
    return outbox_->send(node, command, *this, options);
  }
  [[nodiscard]] const core::Operation& inner() const noexcept { return *inner_; }

 private:
  template <class Event>
  void pass(core::Time now, core::Outbox& outbox, Event event) {
    now_ = now;
    outbox_ = &outbox;
    event();
    think();
    set_deadline(inner_->deadline());
    if (inner_->done()) finish();
  }
  const core::Trouble* send(core::NodeIndex node, std::string_view command, core::Operation&,
                            core::SendOptions options) override {
    return speak(node, command, options);
  }
  [[nodiscard]] std::string_view marker() const noexcept override { return outbox_->marker(); }
  [[nodiscard]] const core::Trouble* remark(core::NodeIndex node) override { return outbox_->remark(node); }

  core::Ref<core::Operation> inner_;
  core::Outbox* outbox_ = nullptr;  // of the event that is being passed on
  core::Time now_{};
};

}  // namespace redlock::simulation
