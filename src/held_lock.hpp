// What a lease guards.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "redlock/core/tenure.hpp"
#include "redlock/lease.hpp"

namespace redlock::inline v1::detail {

class Client;
class Herald;

/// A tenure whose loss may be told. Shared by the lease, the renewals and the herald.
class Holding final : public core::Tenure, public std::enable_shared_from_this<Holding> {
 public:
  using OnLost = std::function<void(Loss)>;

  Holding(core::Claim what, core::Time valid_until, core::Time ends_at, OnLost call, Herald& teller)
      : Tenure{std::move(what), valid_until, ends_at}, on_lost{std::move(call)}, herald{teller} {}

  const OnLost on_lost;
  std::stop_source stop{std::nostopstate};  // of the herald
  std::atomic<bool> has_audience = false;   // likewise: it was watched
  Herald& herald;

  /// Calls what the user gave us.
  void tell() {
    stop.request_stop();
    if (on_lost) on_lost(loss(Clock::now()));
  }

 private:
  void lost_early() noexcept override;
};

/// One held lock, as the lease has it.
struct HeldLock {
  const std::shared_ptr<Client> client;
  const std::string resource;
  const std::shared_ptr<Holding> holding;
  std::optional<Release> release_outcome;  // the owner's: once released
};

}  // namespace redlock::inline v1::detail
