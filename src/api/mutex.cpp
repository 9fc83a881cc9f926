#include "redlock/mutex.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "api/limits.hpp"
#include "api/local_mutex.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {

namespace {

LockOptions renewing(LockOptions options) {
  if (!options.auto_renew) options.auto_renew = true;
  return options;
}

}  // namespace

Mutex::Mutex(LockClient& client, std::string_view resource, LockOptions options)
    : client_{client},
      resource_{resource},
      options_{renewing(std::move(options))},
      local_{std::make_unique<detail::LocalMutex>()} {}
Mutex::~Mutex() = default;

void Mutex::lock() {
  std::unique_lock local{*local_};
  lease_ = client_.lock(resource_, options_);
  local.release();
}

bool Mutex::try_lock() {
  std::unique_lock local{*local_, std::try_to_lock};
  if (!local) return false;
  lease_ = client_.try_lock(resource_, options_);
  if (!lease_) return false;
  local.release();
  return true;
}

bool Mutex::try_lock_for(Duration wait) { return try_lock_for(wait, Unreachable::report); }

bool Mutex::try_lock_for(Duration wait, Unreachable unreachable) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::min(wait.get(), Clock::duration{std::chrono::hours{24 * 365}});
  std::unique_lock local{*local_, deadline};
  if (!local) return false;
  const Duration left = std::max(deadline - std::chrono::steady_clock::now(), Clock::duration::zero());
  const bool reports = unreachable == Unreachable::report;
  try {
    lease_ = reports ? client_.try_lock_for(resource_, left, options_)
                     : client_.try_lock_for(resource_, left, detail::without_node_wait(options_));
  } catch (const Error& error) {
    if (reports || error.code() == Errc::misconfigured || error.code() == Errc::cancelled) throw;
  }
  if (!lease_) return false;
  local.release();
  return true;
}

void Mutex::unlock() noexcept {
  last_release_ = lease_->release();
  lease_.reset();
  local_->unlock();
}

}  // namespace v1
}  // namespace redlock
