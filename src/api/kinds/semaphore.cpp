#include "redlock/kinds/semaphore.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "api/kinds/lock_in_process.hpp"
#include "api/kinds/out_of_time.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

LockOptions with_seats(LockOptions options, std::size_t seats) {
  options.seats = seats;
  return options;
}

}  // namespace

Semaphore::Semaphore(LockClient& client, std::string_view resource, std::size_t seats, LockOptions options)
    : client_{client.client_}, resource_{resource}, options_{with_seats(std::move(options), seats)} {}
Semaphore::~Semaphore() = default;

void Semaphore::acquire() { keep(client_.lock(resource_, options_)); }
bool Semaphore::try_acquire() { return keep(client_.try_lock(resource_, options_)); }
bool Semaphore::try_acquire_for(Duration wait) {
  return keep(client_.try_lock_for(resource_, wait, options_));
}

/// Returns false if all seats are taken or the time is over, and throws for all other outcomes.
bool Semaphore::keep(LockResult result) {
  if (result.is_held() || detail::is_out_of_time(result)) return false;
  Lease permit = std::move(result).value();
  const std::lock_guard lock{mutex_};
  permits_.push_back(std::move(permit));
  return true;
}

Release Semaphore::release() {
  std::unique_lock lock = detail::lock_in_process(client_.client(), mutex_);
  if (!lock) return Release::unknown;
  if (permits_.empty())
    throw Error{std::make_error_code(std::errc::operation_not_permitted),
                "this object has no permit of the semaphore " + core::printable(resource_)};
  Lease last = std::move(permits_.back());
  permits_.pop_back();
  lock.unlock();
  return last.release();
}

std::size_t Semaphore::permits() const noexcept {
  const std::unique_lock lock = detail::lock_in_process(client_.client(), mutex_);
  return lock ? permits_.size() : 0;
}

}  // namespace v1
}  // namespace redlock
