// The notification that an operation is done.
#pragma once

namespace redlock::inline v1::core {

class Operation;

/// Notifies one caller, for example a parked thread, of the end of its operation. The caller owns it and must keep it
/// until the operation has been taken from `Engine::finished`.
class Completion {
 public:
  /// Called once, under the client's mutex, when the operation is taken from `Engine::finished`. Must not block.
  virtual void completed(Operation& operation) noexcept = 0;
  virtual ~Completion() = default;
};

}  // namespace redlock::inline v1::core
