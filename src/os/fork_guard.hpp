// Whether this process has forked since something was made.
#pragma once

#include <memory>

namespace redlock::inline v1::detail {

/// A number that is another one in a child of fork(). What belongs to one generation, such as a connection,
/// must not be used in another: two processes would write into one stream. Async-signal safe after the first
/// call.
[[nodiscard]] unsigned fork_generation();

/// Destroys an object; but in a child of fork() leaves it as it is: another thread of the parent may have been in the middle
/// of changing it, and what is half changed cannot be taken apart. Only its descriptors are closed, by `close_in_child`,
/// if it has any.
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

/// Made in the process that is to destroy the object.
template <class Object>
using OwnProcessPtr = std::unique_ptr<Object, EndInOwnProcess>;

}  // namespace redlock::inline v1::detail
