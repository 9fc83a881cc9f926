// Connections that are being closed politely.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "os/descriptor.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::detail {

/// Sockets on which the last bytes, releases among them, are still to be sent, and replies to be read to the
/// end: closing earlier would send RST, on which the server may drop what it has not read. A hung server may
/// keep us waiting: until a bound.
class ClosingSockets {
 public:
  void add(Descriptor socket, std::string unsent, core::Time until);

  [[nodiscard]] bool empty() const noexcept { return leaving_.empty(); }
  [[nodiscard]] core::Time timer() const noexcept;
  /// Appends what to poll for.
  void append_to(std::vector<pollfd>& polls) const;
  /// Sends and reads what can be without blocking; closes what is finished or overdue.
  void proceed(core::Time now);

 private:
  struct Leaving {
    Descriptor socket;
    std::string unsent;
    std::size_t sent = 0;
    core::Time until{};
  };
  static bool is_finished(Leaving&);
  static void send_rest(Leaving&);

  std::vector<Leaving> leaving_;
};

}  // namespace redlock::inline v1::detail
