// A process that can be stopped and woken, as the kernel, a debugger or a virtual machine's host may do to any.
#pragma once

#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <system_error>

/// A copy of this process that runs `body` and ends with the exit code that it returns. Killed when this object ends
/// before, or this process does.
class ChildProcess {
 public:
  template <class Body>
  explicit ChildProcess(Body body) {
    std::cout.flush();  // or the copy would print it again
    pid_ = fork();
    if (pid_ == -1) throw std::system_error{errno, std::generic_category(), "fork"};
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int code = body();
    std::cout.flush();
    std::_Exit(code);
  }
  ~ChildProcess() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    wait_for_end();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False: it has ended instead.
  [[nodiscard]] bool wait_until_stopped() { return WIFSTOPPED(wait(WUNTRACED)); }

  void wake() const { kill(pid_, SIGCONT); }

  /// Its exit code; -1 where a signal ended it.
  int wait_for_end() {
    const int status = wait(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int wait(int flags) {
    int status = 0;
    while (waitpid(pid_, &status, flags) == -1)
      if (errno != EINTR) return status;
    if (!WIFSTOPPED(status)) pid_ = 0;
    return status;
  }

  pid_t pid_ = 0;  // 0: it has ended
};
