#include "redlock/kinds/leases.hpp"

#include <algorithm>

#include "api/client.hpp"

namespace redlock {
inline namespace v1 {

Leases& Leases::operator=(Leases&& other) noexcept {
  if (this == &other) return *this;
  release();
  all_ = std::exchange(other.all_, {});
  return *this;
}
Leases::~Leases() { release(); }

bool Leases::valid() const noexcept {
  return !empty() && std::all_of(begin(), end(), [](const Lease& each) { return each.valid(); });
}

Clock::time_point Leases::deadline() const noexcept {
  Clock::time_point first = empty() ? Clock::time_point{} : Clock::time_point::max();
  for (const Lease& each : all_) first = std::min(first, each.deadline());
  return first;
}

Clock::duration Leases::remaining() const noexcept {
  Clock::duration least = empty() ? Clock::duration::zero() : Clock::duration::max();
  for (const Lease& each : all_) least = std::min(least, each.remaining());
  return least;
}

Release Leases::release() noexcept {
  detail::Client::release(all_);
  Release all = empty() ? Release::already_lost : Release::released;
  for (Lease& each : all_) {
    const Release one = each.release();  // returns what is known
    if (all == Release::released || one == Release::already_lost) all = one;
  }
  return all;
}

}  // namespace v1
}  // namespace redlock
