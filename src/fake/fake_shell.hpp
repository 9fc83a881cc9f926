// The shell of a client whose nodes and clock are in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/shell.hpp"
#include "fake/fake_node.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lease/loss_queue.hpp"
#include "redlock/testing/fake_locks.hpp"

namespace redlock::inline v1::detail {

/// A time that moves only when it is told to. Thread safe.
class FakeClock {
 public:
  [[nodiscard]] core::Time now() const noexcept { return now_; }
  /// Time of day: begins in 2026, wherever the test runs.
  [[nodiscard]] std::chrono::microseconds wall() const noexcept {
    return std::chrono::seconds{1'767'225'600} +
           std::chrono::duration_cast<std::chrono::microseconds>(now() - begun_);
  }
  void set(core::Time now) noexcept { now_ = now; }

 private:
  const core::Time begun_ = Clock::now();
  std::atomic<core::Time> now_ = begun_;
};

/// Does what the reactor and the loss notifier do, on the threads that call it: passes bytes between the engine and
/// the nodes, moves the time to the next timer, and runs callbacks. No callback runs under the mutex.
class FakeShell : public Shell, public LossReports {
 public:
  FakeShell(std::shared_ptr<FakeClock> clock, Parts parts);

  void advance(core::Span);
  /// Sets the key on all nodes and notifies the client, as servers notify one that tracks the key. No value: deletes it.
  void overwrite(const std::string& key, const std::optional<std::string>& value, core::Span ttl);
  /// Returns false if there is no such node.
  [[nodiscard]] bool set_node(std::size_t node, FakeNodeState);
  [[nodiscard]] std::chrono::microseconds wall() const noexcept { return clock_->wall(); }

  [[nodiscard]] core::Time now() const noexcept override { return clock_->now(); }
  [[nodiscard]] std::uint64_t random() override;
  void keep(const std::shared_ptr<core::LeaseState>&) override;
  void watch(const std::shared_ptr<core::LeaseState>&) override;
  void watch_holder(std::unique_ptr<core::HolderWatch>) override;
  void stop_watching(const core::HolderWatch*) override;
  [[nodiscard]] core::HeldLeases* held_leases() noexcept override { return engine_.held_leases(); }
  bool let_go(const std::shared_ptr<core::LeaseState>&) override;
  void shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases) override;
  [[nodiscard]] LossReports& losses() noexcept override { return *this; }

  bool add(std::span<const std::shared_ptr<LeaseRecord>>) override;
  [[nodiscard]] std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&) override;
  bool wait(const std::shared_ptr<LeaseRecord>&, core::Time until, const std::stop_token&) override;
  void lost(const std::shared_ptr<LeaseRecord>& record) noexcept override { loss_queue_.lost(record); }
  void asked(const std::shared_ptr<LeaseRecord>&, std::string_view why) noexcept override;
  void forget(const std::shared_ptr<LeaseRecord>&) noexcept override;
  void begin() override {}
  bool call_soon(std::function<void()>) noexcept override;
  [[nodiscard]] const std::function<void(std::string_view)>& report() const noexcept override {
    return report_;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Request {
    std::shared_ptr<LeaseRecord> to;
    std::string why;
  };

  void run_until_done(std::unique_ptr<core::Operation>, const std::stop_token&, const Take&) override;
  core::Time step(core::Time until);
  void exchange();
  bool exchange(core::ConnectionIndex);
  void answer(core::ConnectionIndex, std::string_view commands, bool is_read);
  void report_news();
  [[nodiscard]] FakeNodeState& state_of(core::ConnectionIndex each) { return states_[each % nodes_.size()]; }

  const std::shared_ptr<FakeClock> clock_;
  const std::function<void(std::string_view)> report_;
  std::mutex mutex_;
  // The mutex guards all members below.
  core::Engine engine_;
  std::vector<FakeNode> nodes_;
  std::vector<FakeNodeState> states_;
  core::LossQueue<LeaseRecord> loss_queue_;
  std::deque<Request> requests_;              // to be told
  std::vector<std::function<void()>> calls_;  // of the user's code, to be made without the mutex
  std::uint64_t random_ = 1;
};

}  // namespace redlock::inline v1::detail
