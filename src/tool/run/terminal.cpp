#include "tool/run/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace redlock::tool {
namespace {

/// Returns 0 if the parent is outside of this container, and -1 if it is not known.
pid_t parent_of(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  std::getline(file, text,
               '\0');  // an iterator would throw if the process has ended since the file was opened
  std::istringstream after_name{text.substr(text.rfind(')') + 1)};  // the name may contain anything
  std::string state;
  pid_t parent = -1;
  return after_name >> state >> parent ? parent : -1;
}

}  // namespace

Terminal::Terminal() : terminal_{::open("/dev/tty", O_RDWR | O_CLOEXEC)} {}

bool Terminal::lend_to(pid_t group) const noexcept { return pass(::getpgrp(), group); }

bool Terminal::take_back_from(pid_t group) const noexcept { return pass(group, ::getpgrp()); }

bool Terminal::pass(pid_t from, pid_t to) const noexcept {
  if (!terminal_ || ::tcgetpgrp(terminal_.get()) != from) return false;
  ::tcsetpgrp(terminal_.get(), to);
  return true;
}

bool is_job_orphaned() {
  // Whoever is the first ancestor in another group of this session would continue the job.
  for (pid_t ancestor = ::getppid(); ancestor > 0;) {
    if (::getsid(ancestor) != ::getsid(0)) return true;
    if (::getpgid(ancestor) != ::getpgrp()) return false;
    ancestor = parent_of(ancestor);
    if (ancestor < 0) return false;
  }
  return true;
}

}  // namespace redlock::tool
