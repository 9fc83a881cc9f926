#include "tool/run/signal_watch.hpp"

#include <pthread.h>
#include <unistd.h>

#include "tool/exit_code.hpp"

namespace redlock::tool {
namespace {

constexpr int taken[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP};

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool ends_a_wait(int number) { return number != SIGWINCH && number != SIGTSTP; }

}  // namespace

SignalWatch::SignalWatch() {
  ::sigemptyset(&watched_);
  for (const int number : taken)
    if (!is_ignored(number)) ::sigaddset(&watched_, number);
  ::sigaddset(&watched_, SIGRTMIN);  // from the destructor
  sigset_t blocked = watched_;
  ::sigaddset(&blocked, SIGTTOU);  // the terminal is lent and taken back from the background, too
  ::sigaddset(&blocked, SIGPIPE);  // of the guard's pipe, or a closed stderr
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  thread_ = std::thread{[this] { listen(); }};
}

SignalWatch::~SignalWatch() {
  closing_ = true;
  ::pthread_kill(thread_.native_handle(), SIGRTMIN);
  thread_.join();
}

void SignalWatch::forward_to(const Command* command) noexcept {
  const std::lock_guard lock{mutex_};
  command_ = command;
  const int early = stopped_by_.exchange(0);
  if (command && early != 0) forward(early);
}

void SignalWatch::listen() noexcept {
  for (int number = 0; !closing_;)
    if (::sigwait(&watched_, &number) == 0 && number != SIGRTMIN) handle(number);
}

void SignalWatch::handle(int number) noexcept {
  const std::lock_guard lock{mutex_};
  if (command_) return forward(number);
  if (number == SIGTSTP) ::kill(::getpid(), SIGSTOP);
  if (!ends_a_wait(number)) return;
  stopped_by_ = number;
  stop_.request_stop();
}

void SignalWatch::forward(int number) noexcept {
  forwarded_ |= std::uint64_t{1} << number;
  if (number == SIGTSTP) stop_requested_ = true;
  command_->signal(number);
  // What is stopped hears of its end only when it goes on.
  if (number == SIGTERM || number == SIGHUP || number == SIGINT) command_->signal(SIGCONT);
}

void die_of(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
  ::_exit(killed_by_signal + signal);
}

}  // namespace redlock::tool
