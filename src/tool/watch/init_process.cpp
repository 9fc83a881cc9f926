#include "tool/watch/init_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "os/system_error.hpp"
#include "tool/exit_code.hpp"

namespace redlock::tool {
namespace {

/// Reaps all processes that have ended. Ends this process if the worker is one of them. Continues the worker if it has
/// stopped, because no shell would.
void reap(pid_t worker) noexcept {
  int status = 0;
  for (pid_t changed = 0; (changed = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (changed != worker) continue;
    if (!WIFSTOPPED(status))
      ::_exit(WIFSIGNALED(status) ? killed_by_signal + WTERMSIG(status) : WEXITSTATUS(status));
    ::kill(worker, SIGCONT);
  }
}

[[noreturn]] void serve(pid_t worker, const sigset_t& all) noexcept {
  for (;;) {
    siginfo_t signal{};
    const int number = ::sigwaitinfo(&all, &signal);
    if (number == SIGCHLD)
      reap(worker);
    else if (number == SIGHUP || (number > 0 && signal.si_code != SI_KERNEL))
      ::kill(worker, number);  // the terminal's other signals reach the worker by themselves
  }
}

}  // namespace

void serve_as_init() {
  if (::getpid() != 1) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t worker = ::fork();
  if (worker < 0) detail::throw_errno("fork");
  if (worker > 0) {
    ::prctl(PR_SET_DUMPABLE, 0);  // its memory may contain passwords, for example in the environment
    serve(worker, all);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace redlock::tool
