#include "redlock/lease.hpp"

#include <utility>

#include "client.hpp"
#include "held_lock.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

const std::string nothing;

}  // namespace

Lease::Lease(std::unique_ptr<detail::HeldLock> held) noexcept : held_{std::move(held)} {}
Lease::Lease(Lease&&) noexcept = default;
Lease::~Lease() { release(); }

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  return *this;
}

const std::string& Lease::resource() const noexcept { return held_ ? held_->resource : nothing; }
const std::string& Lease::owner_value() const noexcept {
  return held_ ? held_->holding->claim.owner : nothing;
}
FencingToken Lease::fencing_token() const noexcept {
  return held_ ? FencingToken{held_->holding->claim.token} : FencingToken{};
}
State Lease::state() const noexcept { return held_ ? held_->holding->state(Clock::now()) : State::released; }
Clock::time_point Lease::deadline() const noexcept {
  return held_ ? held_->holding->deadline() : Clock::time_point{};
}

bool Lease::valid() const noexcept {
  const State now = state();
  return now == State::held || now == State::in_doubt;
}

Clock::duration Lease::remaining() const noexcept {
  if (!valid()) return Clock::duration::zero();
  return std::max(deadline() - Clock::now(), Clock::duration::zero());
}

Loss Lease::loss() const noexcept { return held_ ? held_->holding->loss(Clock::now()) : Loss::none; }

std::stop_token Lease::stop_token() const {
  return held_ ? held_->client->stop_token(*held_) : std::stop_token{};
}

bool Lease::wait_lost(Duration limit, const std::stop_token& stop) const {
  if (!held_) return false;
  const auto until = core::later(Clock::now(), limit);
  static_cast<void>(held_->client->wait_lost(*held_, until, stop));
  return loss() != Loss::none;
}

bool Lease::extend() {
  if (!held_) return false;
  auto failure = held_->client->extend(*held_);
  if (failure && failure->code == Errc::misconfigured)
    throw Error{failure->code, failure->details, std::move(failure->nodes)};
  return !failure;
}

bool Lease::extend(std::error_code& ec) {
  ec.clear();
  if (!held_) {
    ec = Errc::lost;
  } else {
    try {
      if (const auto failure = held_->client->extend(*held_)) ec = failure->code;
    } catch (const std::system_error& error) {
      ec = error.code();
    }
  }
  return !ec;
}

Release Lease::release() noexcept {
  if (!held_) return Release::already_lost;
  if (!held_->release_outcome) held_->release_outcome = held_->client->release(*held_);
  return *held_->release_outcome;
}

bool Lease::orphan() noexcept { return held_ && !held_->release_outcome && held_->client->orphan(*held_); }

}  // namespace v1
}  // namespace redlock
