#include "redlock/kinds/shared_mutex.hpp"

#include <system_error>
#include <utility>

#include "api/client.hpp"
#include "api/kinds/local_mutex.hpp"
#include "api/kinds/lock_in_process.hpp"
#include "api/kinds/out_of_time.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

LockOptions for_writer(LockOptions options) {
  options.shared = false;
  return options;
}

LockOptions for_readers(LockOptions options) {
  options.shared = true;
  options.at_least = Duration{};
  return options;
}

[[noreturn]] void throw_error(std::errc code, const char* what, std::string_view resource,
                              const char* advice = "") {
  throw Error{std::make_error_code(code), what + core::printable(resource) + advice};
}

}  // namespace

SharedMutex::SharedMutex(LockClient& client, std::string_view resource, LockOptions options)
    : client_{client.client_},
      resource_{resource},
      options_{for_readers(options)},
      writer_{client, resource, for_writer(std::move(options))} {}
SharedMutex::~SharedMutex() = default;

bool SharedMutex::is_reader() const {
  const std::unique_lock lock = detail::lock_in_process(client_.client(), mutex_);
  return lock && readers_.contains(std::this_thread::get_id());
}

/// Throws in a child of fork(), and if this thread has locked the mutex.
void SharedMutex::check_caller() const {
  client_.client().check_process();
  if (writer_.is_mine())
    throw_error(std::errc::resource_deadlock_would_occur,
                "this thread already holds the exclusive lock on the shared mutex ", resource_);
  if (is_reader())
    throw_error(std::errc::resource_deadlock_would_occur,
                "this thread already holds a shared lock on the shared mutex ", resource_,
                "; it cannot lock again, and a shared lock cannot be upgraded to an exclusive one");
}

// ── the writer ──────────────────────────────────────────────────────────────────────────────────────────────

void SharedMutex::lock() {
  check_caller();
  writer_.lock();
}
bool SharedMutex::try_lock() {
  check_caller();
  return writer_.try_lock();
}
bool SharedMutex::try_lock_for(Duration wait) {
  check_caller();
  return writer_.try_lock_for(wait);
}
void SharedMutex::unlock() {
  if (writer_.is_mine()) return writer_.unlock();
  if (is_reader())
    throw_error(std::errc::operation_not_permitted, "this thread holds a shared lock on the shared mutex ",
                resource_, "; unlock_shared releases it");
  throw_error(std::errc::operation_not_permitted, "this thread holds no lock on the shared mutex ",
              resource_);
}

void SharedMutex::unlock_and_lock_shared() {
  if (!writer_.is_mine())
    throw_error(std::errc::operation_not_permitted,
                "this thread does not hold the exclusive lock on the shared mutex ", resource_);
  LockResult result = client_.downgrade(std::move(*writer_.lease_), options_);
  if (result.code() == Errc::invalid_argument) return static_cast<void>(std::move(result).value());
  writer_.lease_.reset();
  writer_.local_->unlock();
  add(std::move(result).value());
}

// ── readers ─────────────────────────────────────────────────────────────────────────────────────────────────

void SharedMutex::lock_shared() {
  check_caller();
  if (!join()) add(client_.lock(resource_, options_).value());
}
bool SharedMutex::try_lock_shared() {
  check_caller();
  return join() || keep(client_.try_lock(resource_, options_));
}
bool SharedMutex::try_lock_shared_for(Duration wait) {
  check_caller();
  return join() || keep(client_.try_lock_for(resource_, wait, options_));
}

/// Joins other threads. Returns false if none has a lease that is young enough.
bool SharedMutex::join() {
  const std::lock_guard lock{mutex_};
  if (!newest_ || client_.client().now() >= newest_->joined_until || !newest_->lease.valid()) return false;
  readers_.emplace(std::this_thread::get_id(), newest_);
  ++newest_->count;
  return true;
}

/// Returns false if a writer has the lock or the time is over, and throws for all other outcomes.
bool SharedMutex::keep(LockResult result) {
  if (result.is_held() || detail::is_out_of_time(result)) return false;
  add(std::move(result).value());
  return true;
}

/// This thread has a lease that others can join.
void SharedMutex::add(Lease&& lease) {
  const Clock::time_point joined_until = lease.deadline() - options_.ttl.get() / 3 * 2;
  const std::shared_ptr<Readers> readers{new Readers{std::move(lease), joined_until, 1}};
  const std::lock_guard lock{mutex_};
  readers_.emplace(std::this_thread::get_id(), readers);
  newest_ = readers;
}

void SharedMutex::unlock_shared() {
  std::unique_lock lock = detail::lock_in_process(client_.client(), mutex_);
  if (!lock) return;
  const auto mine = readers_.find(std::this_thread::get_id());
  if (mine == readers_.end())
    throw_error(std::errc::operation_not_permitted, "this thread holds no shared lock on the shared mutex ",
                resource_);
  const std::shared_ptr<Readers> readers = std::move(mine->second);
  readers_.erase(mine);
  if (--readers->count > 0) return;
  if (newest_ == readers) newest_.reset();
  lock.unlock();
  readers->lease.release();
}

const Lease* SharedMutex::lease() const {
  if (writer_.is_mine()) return writer_.lease();
  const std::unique_lock lock = detail::lock_in_process(client_.client(), mutex_);
  if (!lock) return nullptr;
  const auto mine = readers_.find(std::this_thread::get_id());
  return mine == readers_.end() ? nullptr : &mine->second->lease;
}

}  // namespace v1
}  // namespace redlock
