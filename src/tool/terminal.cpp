#include "terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace redlock::tool {

Terminal::Terminal() : terminal_{::open("/dev/tty", O_RDWR | O_CLOEXEC)} {
  if (terminal_ && ::tcgetpgrp(terminal_.get()) != ::getpgrp()) terminal_ = detail::Descriptor{};
}

void Terminal::give_to(pid_t group) const noexcept {
  if (terminal_) ::tcsetpgrp(terminal_.get(), group);
}

void Terminal::take_back() const noexcept { give_to(::getpgrp()); }

}  // namespace redlock::tool
