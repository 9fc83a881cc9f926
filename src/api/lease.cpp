#include "redlock/lease.hpp"

#include <algorithm>
#include <utility>

#include "api/client.hpp"
#include "notify/lease_record.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

const std::string nothing;

}  // namespace

Lease::Lease(std::shared_ptr<detail::Client> client, std::shared_ptr<detail::LeaseRecord> record) noexcept
    : client_{std::move(client)}, record_{std::move(record)} {}
Lease::Lease() noexcept = default;
Lease::Lease(Lease&&) noexcept = default;
Lease::~Lease() { release(); }

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  record_ = std::move(other.record_);
  client_ = std::move(other.client_);
  return *this;
}

const std::string& Lease::resource() const noexcept { return record_ ? record_->resource : nothing; }
const std::string& Lease::owner_value() const noexcept { return record_ ? record_->claim.owner : nothing; }
FencingToken Lease::fencing_token() const noexcept {
  return record_ ? FencingToken{record_->claim.token} : FencingToken{};
}
Sequencer Lease::sequencer() const {
  if (!record_) throw Error{Errc::invalid_argument, "an empty lease has no sequencer"};
  return {record_->claim.is_shared(), fencing_token(), std::string{core::holder_id(owner_value())},
          resource()};
}
State Lease::state() const noexcept { return record_ ? record_->state(client_->now()) : State::released; }
Clock::time_point Lease::deadline() const noexcept {
  return record_ ? record_->deadline() : Clock::time_point{};
}

bool Lease::valid() const noexcept {
  const State now = state();
  return now == State::held || now == State::in_doubt;
}

Clock::duration Lease::remaining() const noexcept {
  if (!valid()) return Clock::duration::zero();
  return std::max(deadline() - client_->now(), Clock::duration::zero());
}

Loss Lease::loss() const noexcept { return record_ ? record_->loss(client_->now()) : Loss::none; }

std::stop_token Lease::stop_token() const {
  return record_ ? client_->stop_token(record_) : std::stop_token{};
}

bool Lease::wait_lost(Duration limit, const std::stop_token& stop) const {
  if (!record_) return false;
  const auto until = core::later(client_->now(), limit);
  static_cast<void>(client_->wait_lost(record_, until, stop));
  return loss() != Loss::none;
}

bool Lease::extend() {
  if (!record_) return false;
  auto failure = client_->extend(record_);
  if (failure && failure->code == Errc::misconfigured)
    throw Error{failure->code, failure->details, std::move(failure->nodes)};
  return !failure;
}

bool Lease::extend(std::error_code& ec) {
  ec.clear();
  if (!record_) {
    ec = Errc::lost;
  } else {
    try {
      if (const auto failure = client_->extend(record_)) ec = failure->code;
    } catch (const std::system_error& error) {
      ec = error.code();
    }
  }
  return !ec;
}

Release Lease::release() noexcept {
  if (!record_) return Release::already_lost;
  if (!record_->release_outcome) record_->release_outcome = client_->release(record_);
  return *record_->release_outcome;
}

std::optional<Handover> Lease::orphan() {
  if (record_ && record_->claim.is_shared())
    throw Error{Errc::invalid_argument, "a shared lease is not orphaned, because nobody can adopt it"};
  Handover handover{resource(), owner_value(), fencing_token()};
  if (!record_ || record_->release_outcome || !client_->orphan(record_)) return std::nullopt;
  return handover;
}

}  // namespace v1
}  // namespace redlock
