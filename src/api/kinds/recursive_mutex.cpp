#include "redlock/kinds/recursive_mutex.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {

RecursiveMutex::RecursiveMutex(LockClient& client, std::string_view resource, LockOptions options,
                               std::size_t max_depth)
    : mutex_{client, resource, std::move(options)}, max_depth_{max_depth} {}
RecursiveMutex::~RecursiveMutex() = default;

std::optional<bool> RecursiveMutex::lock_again() {
  if (max_depth_ == 0) throw Error{Errc::invalid_argument, "max_depth is 0; at least 1 is allowed"};
  if (!mutex_.is_mine()) return std::nullopt;
  mutex_.check_lease();
  if (depth_ == max_depth_) return false;
  ++depth_;
  return true;
}

bool RecursiveMutex::first_lock(bool is_locked) noexcept {
  if (is_locked) depth_ = 1;
  return is_locked;
}

void RecursiveMutex::lock() {
  const std::optional<bool> again = lock_again();
  if (again == false)
    throw Error{std::make_error_code(std::errc::resource_unavailable_try_again),
                "this thread has locked the mutex " + std::to_string(max_depth_) +
                    " times without unlocking it, and max_depth allows no more"};
  if (again) return;
  mutex_.lock();
  depth_ = 1;
}

bool RecursiveMutex::try_lock() {
  const std::optional<bool> again = lock_again();
  return again ? *again : first_lock(mutex_.try_lock());
}

bool RecursiveMutex::try_lock_for(Duration wait) {
  const std::optional<bool> again = lock_again();
  return again ? *again : first_lock(mutex_.try_lock_for(wait));
}

void RecursiveMutex::unlock() {
  if (mutex_.is_mine() && depth_ > 1)
    --depth_;
  else
    mutex_.unlock();
}

}  // namespace v1
}  // namespace redlock
