// Detects objects that were made before a fork().
#pragma once

#include <memory>

namespace redlock::inline v1::detail {

/// Returns a number that differs between a process and its children by fork(). What belongs to one generation, such as a
/// connection, must not be used in another, or two processes would write to one stream. Async-signal-safe.
[[nodiscard]] unsigned fork_generation();

/// A deleter that leaves the object alone in a child of fork(), because another thread of the parent may have been
/// modifying it at the time of the fork. In a child it only calls the object's `close_in_child`, if there is one, to
/// close its descriptors.
class EndInOwnProcess {
 public:
  template <class Object>
  void operator()(Object* object) const noexcept {
    if (fork_generation() == generation_)
      delete object;
    else if constexpr (requires { object->close_in_child(); })
      object->close_in_child();
  }

 private:
  unsigned generation_ = fork_generation();
};

/// Create it in the process that is to destroy the object.
template <class Object>
using OwnProcessPtr = std::unique_ptr<Object, EndInOwnProcess>;

}  // namespace redlock::inline v1::detail
