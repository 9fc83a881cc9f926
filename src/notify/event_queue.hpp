// Telling a user's observer what happened.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

/// An observer that takes notes, and tells them to another one later: on a thread of its own, one at a time, in their
/// order. Taking a note never blocks, throws or calls a user's code, so it may be done under the client's mutex. While too
/// many notes wait, more of them are only counted.
///
/// Notes are told in batches, some milliseconds after the first of them: a busy client does not wake a thread for each.
class EventQueue final : public Observer {
 public:
  using Report = std::function<void(std::string_view)>;

  /// `key_prefix`: so many bytes of each key stand before the resource. `report`: told once, if the observer throws; may be
  /// empty. No thread is started.
  EventQueue(std::shared_ptr<Observer>, std::size_t key_prefix, Report report);
  /// Tells what was noted. On its own thread, which is inside of a user's call, it leaves that out.
  ~EventQueue() override;

  void attempted(const Attempt&) override;
  void waited(const Wait&) override;
  void ended(const Hold&) override;
  void extended(const Extension&) override;
  void node_changed(const Node&) override;

  /// How many notes may wait.
  static constexpr std::size_t capacity = 8192;

 private:
  struct State;
  template <class Event>
  void note(const Event&) noexcept;

  const std::shared_ptr<State>
      state_;  // outlives this object in a thread that destroys it from a user's call
  const std::size_t key_prefix_;
};

}  // namespace redlock::inline v1::detail
