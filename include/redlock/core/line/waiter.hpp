// A call that waits for a lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/outbox.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// A call that stands in the line of its client, and through it in the line of all clients. The functions are called
/// under the client's mutex.
class Waiter {
 public:
  struct Terms {
    std::string key;
    Time called_at{};  // decides the order
    std::chrono::milliseconds ttl{};
    Span node_timeout{};
    std::size_t seats = 0;   // of a semaphore; the key is their line's. Zero: the key is the lock's
    bool is_shared = false;  // other readers are not in the way
  };

  enum class Turn : std::uint8_t {
    own,     ///< The call is the first one, and a majority of the nodes may be free.
    others,  ///< Only if nobody keeps the flag up.
  };

  virtual ~Waiter() = default;

  /// Makes an attempt, or puts it off. Reports its end by `Lines::attempt_failed` or `Lines::attempt_succeeded`.
  virtual void attempt_in_line(Turn, Time now, Outbox&) = 0;
  /// The call does not stand in the line any more, because too few nodes can be used for now.
  virtual void turned_away(Time now, Outbox&) = 0;
  /// Likewise, because this node does not let it stand in line.
  virtual void refused(NodeIndex, const Trouble&, Time now, Outbox&) = 0;

  /// Where the call stands, from 1 on, and how many stand there. Of the calls of other clients, only the first one of each
  /// is counted.
  virtual void placed(std::size_t /*position*/, std::size_t /*length*/, Time /*now*/, Outbox&) {}

  [[nodiscard]] const Terms& terms() const noexcept { return terms_; }

 protected:
  Terms terms_;  // to be set before it joins a line
};

}  // namespace redlock::inline v1::core
