#include "io/closing_sockets.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace redlock::inline v1::detail {

void ClosingSockets::add(Descriptor socket, std::string unsent, core::Time until) {
  leaving_.push_back({std::move(socket), std::move(unsent), 0, until});
  send_rest(leaving_.back());
}

core::Time ClosingSockets::timer() const noexcept {
  core::Time first = core::never;
  for (const Leaving& leaving : leaving_) first = std::min(first, leaving.until);
  return first;
}

void ClosingSockets::append_to(std::vector<pollfd>& polls) const {
  for (const Leaving& leaving : leaving_) {
    const bool has_unsent = leaving.sent < leaving.unsent.size();
    polls.push_back({leaving.socket.get(), static_cast<short>(has_unsent ? POLLIN | POLLOUT : POLLIN), 0});
  }
}

void ClosingSockets::proceed(core::Time now) {
  std::erase_if(leaving_, [now](Leaving& leaving) { return now >= leaving.until || is_finished(leaving); });
}

bool ClosingSockets::is_finished(Leaving& leaving) {
  if (leaving.sent < leaving.unsent.size()) send_rest(leaving);
  std::array<char, 16384> ignored;
  for (int part = 0; part < 4; ++part) {
    const ssize_t got = ::recv(leaving.socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  }
  return false;
}

void ClosingSockets::send_rest(Leaving& leaving) {
  const std::string_view rest = std::string_view{leaving.unsent}.substr(leaving.sent);
  if (!rest.empty()) {
    const ssize_t sent = ::send(leaving.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) leaving.sent += static_cast<std::size_t>(sent);
  }
  if (leaving.sent == leaving.unsent.size()) ::shutdown(leaving.socket.get(), SHUT_WR);
}

}  // namespace redlock::inline v1::detail
