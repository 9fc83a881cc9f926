// Sockets that are being closed gracefully.
#pragma once

#include <poll.h>

#include <memory>
#include <vector>

#include "io/sockets/poller.hpp"
#include "io/sockets/transport.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/login/secret.hpp"

namespace redlock::inline v1::detail {

/// Sends the last bytes on each socket, which may include releases, and reads replies to the end of the stream. Closing
/// earlier would send RST, after which the server may drop what it has not read. Every socket has a limit of time and of
/// bytes, because a server may hang, or send without end.
class ClosingSockets {
 public:
  void add(std::unique_ptr<Transport> transport, WipedString unsent, core::Time until);

  [[nodiscard]] bool empty() const noexcept { return leaving_.empty(); }
  [[nodiscard]] core::Time timer() const noexcept;
  /// Appends the descriptors to poll, all with this tag.
  void append_to(PollSet& poll, PollSet::Tag tag) const;
  /// Sends and reads as much as possible without blocking. Closes the sockets that are finished or overdue.
  void proceed(core::Time now);
  /// Proceeds until all sockets are closed. Blocks until `until` at the latest.
  void finish(core::Time until);

 private:
  struct Leaving {
    std::unique_ptr<Transport> transport;
    WipedString unsent;
    std::size_t sent = 0;
    std::size_t read = 0;
    core::Time until{};
    bool has_ended = false;  // our direction

    [[nodiscard]] short events() const noexcept {
      return static_cast<short>(has_unsent() ? POLLIN | POLLOUT : POLLIN);
    }
    [[nodiscard]] bool has_unsent() const noexcept { return sent < unsent.size() || transport->has_unsent(); }
  };
  static bool is_finished(Leaving&);
  static void send_rest(Leaving&);

  std::vector<Leaving> leaving_;
};

}  // namespace redlock::inline v1::detail
