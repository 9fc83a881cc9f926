// Names to addresses, away from whoever waits for locks.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "os/wake_event.hpp"

namespace redlock::inline v1::detail {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// One question to the system's resolver, which may block without limit: so it is asked on a thread of its
/// own, which nobody joins. Whoever loses patience drops the shared pointer.
class Resolution {
 public:
  /// Numeric addresses are answered at once. Throws std::system_error when no thread can be made.
  static std::shared_ptr<Resolution> start(std::string host, std::uint16_t port);

  /// Readable when the answer is there.
  [[nodiscard]] int fd() const noexcept { return answered_.fd(); }
  struct Answer {
    bool there = false;
    std::vector<Address> addresses;
    std::string error;
  };
  [[nodiscard]] Answer answer() const;

 private:
  mutable std::mutex mutex_;
  Answer answer_;  // under mutex_
  WakeEvent answered_;
};

}  // namespace redlock::inline v1::detail
