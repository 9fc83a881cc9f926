#include "redlock/mutex.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "api/client.hpp"
#include "api/kinds/local_mutex.hpp"
#include "api/kinds/out_of_time.hpp"
#include "api/limits.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {

Mutex::Mutex(LockClient& client, std::string_view resource, LockOptions options)
    : client_{client.client_},
      resource_{resource},
      options_{detail::for_one_holder(std::move(options), "a mutex")},
      local_{std::make_unique<detail::LocalMutex>()} {}
Mutex::~Mutex() = default;

/// This thread has locked the mutex.
bool Mutex::is_mine() const noexcept { return local_->is_mine(); }

/// Throws in a child of fork(), whose copy of the local mutex nobody may unlock, and if this thread has locked the mutex.
void Mutex::check_caller() const {
  client_.client().check_process();
  if (is_mine())
    throw Error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                "this thread has already locked the mutex of " + core::printable(resource_) +
                    "; RecursiveMutex can be locked again"};
}

/// Throws unless the lease is valid and belongs to this process. Precondition: this thread has locked the mutex.
void Mutex::check_lease() const {
  client_.client().check_process();
  if (lease_->valid()) return;
  throw Error{Errc::lost,
              "the lock of " + core::printable(resource_) + " was lost (" +
                  std::string{to_string(lease_->loss())} +
                  "); unlock the mutex as often as this thread has locked it, before it locks it again"};
}

void Mutex::lock() {
  check_caller();
  std::unique_lock local{*local_};
  lease_ = client_.lock(resource_, options_).value();
  local.release();
}

bool Mutex::try_lock() {
  check_caller();
  std::unique_lock local{*local_, std::try_to_lock};
  if (!local) return false;
  return keep(client_.try_lock(resource_, options_), local);
}

bool Mutex::try_lock_for(Duration wait) { return try_lock_for(wait, Unreachable::report); }

bool Mutex::try_lock_for(Duration wait, Unreachable unreachable) {
  check_caller();
  constexpr Clock::duration longest = std::chrono::hours{24 * 365};
  const auto deadline =
      std::chrono::steady_clock::now() + std::clamp(wait.get(), Clock::duration::zero(), longest);
  std::unique_lock local{*local_, deadline};
  if (!local) return false;
  const Clock::duration left = std::max(deadline - std::chrono::steady_clock::now(), Clock::duration::zero());
  if (left == Clock::duration::zero() && wait.get() > left) return false;  // another thread had it until then
  if (unreachable == Unreachable::report) return keep(client_.try_lock_for(resource_, left, options_), local);
  LockResult result = client_.try_lock_for(resource_, left, detail::without_node_wait(options_));
  const bool is_unreachable = result.code() == Errc::no_quorum || result.code() == Errc::too_slow;
  if (unreachable == Unreachable::ignore && is_unreachable) return false;
  return keep(std::move(result), local);
}

/// Returns false if somebody else has the lock or the time is over, and throws for all other outcomes.
bool Mutex::keep(LockResult result, std::unique_lock<detail::LocalMutex>& local) {
  if (result.is_held() || detail::is_out_of_time(result)) return false;
  lease_ = std::move(result).value();
  local.release();
  return true;
}

void Mutex::unlock() {
  if (!is_mine())
    throw Error{std::make_error_code(std::errc::operation_not_permitted),
                "this thread has not locked the mutex of " + core::printable(resource_)};
  last_release_ = lease_->release();
  lease_.reset();
  local_->unlock();
}

}  // namespace v1
}  // namespace redlock
