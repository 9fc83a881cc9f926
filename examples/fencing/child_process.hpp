// A child process that can be stopped and resumed, as a kernel, a debugger or a virtual machine's host may do.
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

/// A fork of this process that runs `body` and exits with the code that it returns. Killed when this object is destroyed or
/// when this process ends.
class ChildProcess {
 public:
  template <class Body>
  explicit ChildProcess(Body body) {
    std::cout.flush();  // otherwise the child prints it again
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

  /// Returns false if it ended instead.
  [[nodiscard]] bool wait_until_stopped() { return WIFSTOPPED(wait(WUNTRACED)); }

  void resume() const { kill(pid_, SIGCONT); }

  /// Returns its exit code, or -1 if a signal ended it.
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

  pid_t pid_ = 0;  // 0 once it has ended
};
