// A wrapper between the engine and an operation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/operation.hpp"

namespace redlock::simulation {

/// Passes all events and commands on unchanged. Mutants derive from it and change some of them.
class OperationWrapper : public core::Operation, private core::Outbox {
 public:
  explicit OperationWrapper(std::unique_ptr<core::Operation> inner) : inner_{inner.release()} {
    give_up_at = inner_->give_up_at;
  }

  void start(core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->start(now, *this); });
  }
  void answered(core::NodeIndex node, core::Step step, const core::Reply& reply, core::Time now,
                core::Outbox& outbox) override {
    pass(now, outbox, [&] {
      core::Reply changed = reply;
      change_reply(node, step, changed);
      deliver_reply(node, step, changed);
    });
  }
  void disconnected(core::NodeIndex node, const core::Trouble& trouble, core::Time now,
                    core::Outbox& outbox) override {
    pass(now, outbox, [&] {
      if (passes_disconnection(node)) inner_->disconnected(node, trouble, now_, *this);
    });
  }
  void timed_out(core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->timed_out(now, *this); });
  }
  using core::Outbox::abandon;
  void abandon(Errc why, core::Time now, core::Outbox& outbox) override {
    pass(now, outbox, [&] { inner_->abandon(why, now, *this); });
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t nodes) const override {
    return inner_->connections_wanted(nodes);
  }
  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override {
    return inner_->wanted_ttl();
  }

  [[nodiscard]] std::string_view written_key() const noexcept override { return inner_->written_key(); }

 protected:
  /// May change a reply before the operation gets it.
  virtual void change_reply(core::NodeIndex, core::Step, core::Reply&) {}
  /// Whether the operation is informed of the lost connection.
  virtual bool passes_disconnection(core::NodeIndex) { return true; }
  /// Called for every command that the operation sends.
  virtual const core::Trouble* send_command(core::NodeIndex node, std::string_view command,
                                            core::SendOptions options) {
    return forward(node, command, options);
  }
  /// Called after each event.
  virtual void after_event() {}

  void deliver_reply(core::NodeIndex node, core::Step step, const core::Reply& reply) {
    inner_->answered(node, step, reply, now_, *this);
  }
  const core::Trouble* forward(core::NodeIndex node, std::string_view command, core::SendOptions options) {
    return outbox_->send(node, command, *this, options);
  }
  [[nodiscard]] const core::Operation& inner() const noexcept { return *inner_; }
  [[nodiscard]] const core::Outbox& outbox() const noexcept { return *outbox_; }

 private:
  template <class Event>
  void pass(core::Time now, core::Outbox& outbox, Event event) {
    now_ = now;
    outbox_ = &outbox;
    event();
    after_event();
    set_deadline(inner_->deadline());
    if (inner_->done()) finish();
  }
  const core::Trouble* send(core::NodeIndex node, std::string_view command, core::Operation&,
                            core::SendOptions options) override {
    return send_command(node, command, options);
  }
  void released(std::string_view key, bool is_seat) override { outbox_->released(key, is_seat); }
  void granted(core::Time deadline) noexcept override { outbox_->granted(deadline); }
  [[nodiscard]] const core::MarkerKeys* marker_keys() const noexcept override {
    return outbox_->marker_keys();
  }
  [[nodiscard]] const core::Trouble* caveat(core::NodeIndex node) override { return outbox_->caveat(node); }
  void look_again(core::NodeIndex node) override { outbox_->look_again(node); }

  core::Ref<core::Operation> inner_;
  core::Outbox* outbox_ = nullptr;  // of the current event
  core::Time now_{};
};

}  // namespace redlock::simulation
