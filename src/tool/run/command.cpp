#include "tool/run/command.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/system_error.hpp"
#include "tool/exit_code.hpp"

namespace redlock::tool {
namespace {

using detail::Descriptor;

bool dies_at_file_size_limit = false;  // a command would

// Pointers for exec are made before the fork, because the child must not allocate memory.

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

/// Points into the environment of this process, which may have passwords: no copy of it stays in memory.
std::vector<char*> environment_with(const std::vector<std::string>& more) {
  std::vector<char*> all;
  for (const std::string& ours : more)
    if (ours.find('=') != std::string::npos) all.push_back(const_cast<char*>(ours.c_str()));
  for (char** variable = environ; variable && *variable; ++variable) {
    bool is_replaced = false;
    for (const std::string& ours : more) is_replaced |= name_of(*variable) == name_of(ours);
    if (!is_replaced) all.push_back(*variable);
  }
  all.push_back(nullptr);
  return all;
}

/// Turns the child into the program. Returns only if exec fails.
void become(const std::vector<char*>& words, const std::vector<char*>& environment,
            const Command::Launch& launch, pid_t parent) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool is_orphan = ::getppid() != parent;  // the parent died before the line above
  if (is_orphan || !launch.before_exec(::getpid())) ::_exit(killed_by_signal + SIGKILL);
  if (dies_at_file_size_limit) ::signal(SIGXFSZ, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &launch.signals, nullptr);
  ::execvpe(words.front(), words.data(), environment.data());
}

}  // namespace

void survive_file_size_limit() noexcept { dies_at_file_size_limit = ::signal(SIGXFSZ, SIG_IGN) == SIG_DFL; }

Command::Command(const Launch& launch) {
  const std::vector<char*> words = pointers_to(launch.words);
  const std::vector<char*> environment = environment_with(launch.environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) detail::throw_errno("pipe");
  const Descriptor reading{ends[0]};
  Descriptor writing{ends[1]};
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) detail::throw_errno("fork");
  if (pid_ == 0) {
    become(words, environment, launch, parent);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(writing.get(), &error, sizeof error);
    ::_exit(not_found);
  }
  ::setpgid(pid_, pid_);  // in the child as well: whichever runs first
  writing = Descriptor{};
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got != sizeof error) return;
  static_cast<void>(exit_code());
  throw NotExecuted{error, std::system_category(), launch.words.front()};
}

Command::~Command() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  static_cast<void>(exit_code());
}

int Command::wait() const noexcept {
  for (;;) {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    if (info.si_code != CLD_STOPPED) return 0;
    // Consume the notification: WNOWAIT would report the same stop again and again. If somebody has continued the process
    // meanwhile, there is none any more, and the process has not ended.
    info = {};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG);
    if (info.si_pid != 0) return info.si_status;
  }
}

int Command::exit_code() noexcept {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFSIGNALED(status) ? killed_by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

void Command::signal(int number) const noexcept { ::kill(-pid_, number); }

}  // namespace redlock::tool
