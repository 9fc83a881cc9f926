// What a lease guards.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "redlock/core/claim.hpp"
#include "redlock/core/extension.hpp"
#include "redlock/lease.hpp"

namespace redlock::inline v1::detail {

class Client;

/// One held lock. The atomics let any thread read while the owner extends or releases; everything else is
/// written once, or by the owner only.
class HeldLock {
 public:
  HeldLock(std::shared_ptr<Client> keep, std::string name, core::Claim held_claim, core::Time valid_until)
      : client{std::move(keep)},
        resource{std::move(name)},
        claim{std::move(held_claim)},
        deadline_{valid_until.time_since_epoch().count()} {}

  const std::shared_ptr<Client> client;
  const std::string resource;
  const core::Claim claim;
  std::optional<Release> release_outcome;  // the owner's: once released

  [[nodiscard]] core::Time deadline() const noexcept {
    return core::Time{core::Span{deadline_.load(std::memory_order_acquire)}};
  }
  [[nodiscard]] State state() const noexcept {
    const State state = state_.load(std::memory_order_acquire);
    const bool in_force = state == State::held || state == State::in_doubt;
    return in_force && Clock::now() >= deadline() ? State::lost : state;
  }
  /// Lost by the word of a majority, or released: for ever, wherever the deadline is.
  [[nodiscard]] bool is_over() const noexcept {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::lost || state == State::released;
  }
  void set_released() noexcept { state_.store(State::released, std::memory_order_release); }
  void set_lost() noexcept { state_.store(State::lost, std::memory_order_release); }
  void set_in_doubt() noexcept { state_.store(State::in_doubt, std::memory_order_release); }
  void set_extended(core::Time valid_until) noexcept {
    deadline_.store(valid_until.time_since_epoch().count(), std::memory_order_release);
    state_.store(State::held, std::memory_order_release);
  }

 private:
  std::atomic<Clock::rep> deadline_;
  std::atomic<State> state_{State::held};
};

}  // namespace redlock::inline v1::detail
