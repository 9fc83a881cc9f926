// Who is notified when an operation is done.
#pragma once

namespace redlock::inline v1::core {

class Operation;

/// The interest of one caller in the end of an operation: a parked thread is one kind, a handler may be another. Owned by
/// the caller, and must outlive the operation's way through `Engine::finished`.
class Completion {
 public:
  /// The operation is done. Called once, under the client's mutex, by whoever empties `Engine::finished`. Must not block.
  virtual void completed(Operation& operation) noexcept = 0;

 protected:
  ~Completion() = default;
};

}  // namespace redlock::inline v1::core
