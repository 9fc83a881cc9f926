#include "redlock/lock_result.hpp"

#include "redlock/kinds/leases.hpp"

namespace redlock {
inline namespace v1 {

template <class Held>
Error BasicLockResult<Held>::error() const {
  return Error{code_, details_, nodes_};
}

template <class Held>
void BasicLockResult<Held>::check() const {
  if (code_) throw error();
}

template <class Held>
std::string BasicLockResult<Held>::message() const {
  return code_ ? error().what() : std::string{};
}

template class BasicLockResult<Lease>;
template class BasicLockResult<Leases>;

}  // namespace v1
}  // namespace redlock
