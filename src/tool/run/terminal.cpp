#include "tool/run/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace redlock::tool {

Terminal::Terminal() : terminal_{::open("/dev/tty", O_RDWR | O_CLOEXEC)} {}

bool Terminal::lend_to(pid_t group) const noexcept { return pass(::getpgrp(), group); }

bool Terminal::take_back_from(pid_t group) const noexcept { return pass(group, ::getpgrp()); }

bool Terminal::pass(pid_t from, pid_t to) const noexcept {
  if (!terminal_ || ::tcgetpgrp(terminal_.get()) != from) return false;
  ::tcsetpgrp(terminal_.get(), to);
  return true;
}

}  // namespace redlock::tool
