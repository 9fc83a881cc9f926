// Resolves host names on a separate thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "os/wake_event.hpp"
#include "redlock/clock.hpp"

namespace redlock::inline v1::detail {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// One query to the system's resolver. The resolver may block without limit, so each query runs on a thread of its own
/// that is never joined. To give up on a query, drop the shared pointer.
class Resolution {
 public:
  /// Starts a query. Numeric addresses are resolved at once, without a thread, unless the thread has something to do
  /// `first`. Throws std::system_error if the system has no thread for it.
  static std::shared_ptr<Resolution> start(std::string host, std::uint16_t port,
                                           std::function<void()> first = nullptr);

  /// Readable once the thread has the answer.
  [[nodiscard]] int fd() const noexcept { return answered_.fd(); }
  /// The answer came before this time.
  [[nodiscard]] bool is_older_than(Clock::time_point) const;
  void close_in_child() const noexcept { answered_.close_in_child(); }
  struct Answer {
    bool there = false;
    std::vector<Address> addresses;
    std::string error;
    Clock::time_point at{};  ///< When it came.
  };
  [[nodiscard]] Answer answer() const;

 private:
  void set(std::vector<Address> addresses, std::string error);

  mutable std::mutex mutex_;
  Answer answer_;  // under mutex_
  WakeEvent answered_;
};

}  // namespace redlock::inline v1::detail
