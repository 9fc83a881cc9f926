#include "tool/output.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstddef>

#include "os/descriptor.hpp"

namespace redlock::tool {
namespace {

/// The pipe or terminal that is stderr, opened once more, so that this process alone never blocks in a write to it: a flag of
/// stderr itself would also be one of other processes. None if this user may not open it.
detail::Descriptor own_stderr() {
  return detail::Descriptor{::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
}

/// Returns false if stderr does not become writable before that time.
bool is_writable_by(int descriptor, Clock::time_point give_up_at) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(give_up_at - Clock::now());
    pollfd output{descriptor, POLLOUT, 0};
    const int ready = ::poll(&output, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
}

}  // namespace

void tell(const std::string& text, std::chrono::milliseconds patience) {
  struct stat about {};
  if (::fstat(STDERR_FILENO, &about) != 0) return;
  const bool is_socket = S_ISSOCK(about.st_mode);
  if (!is_socket && !S_ISFIFO(about.st_mode) && ::isatty(STDERR_FILENO) != 1) {
    std::osyncstream{std::cerr} << text;  // a file makes nobody wait
    return;
  }
  const detail::Descriptor own = is_socket ? detail::Descriptor{} : own_stderr();
  const int descriptor = own ? own.get() : STDERR_FILENO;
  const Clock::time_point give_up_at = Clock::now() + patience;
  for (std::string_view rest = text; !rest.empty() && is_writable_by(descriptor, give_up_at);) {
    // So much can be written at once to a pipe that can be written to.
    const std::string_view part = rest.substr(0, PIPE_BUF);
    const ssize_t written = is_socket
                                ? ::send(descriptor, part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : ::write(descriptor, part.data(), part.size());
    if (written > 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if ((errno != EAGAIN && errno != EINTR) || Clock::now() >= give_up_at)
      return;
  }
}

}  // namespace redlock::tool
