#include "redlock/lock_result.hpp"

namespace redlock {
inline namespace v1 {

Error LockResult::error() const { return Error{code_, details_, nodes_}; }

void LockResult::check() const {
  if (code_) throw error();
}

std::string LockResult::message() const { return code_ ? error().what() : std::string{}; }

}  // namespace v1
}  // namespace redlock
