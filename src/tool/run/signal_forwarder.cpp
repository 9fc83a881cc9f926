#include "tool/run/signal_forwarder.hpp"

#include <pthread.h>
#include <unistd.h>

#include "tool/exit_code.hpp"
#include "tool/run/terminal.hpp"

namespace redlock::tool {
namespace {

constexpr int taken[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP};

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool ends_a_wait(int number) { return number != SIGWINCH && number != SIGTSTP; }

}  // namespace

SignalForwarder::SignalForwarder() {
  ::sigemptyset(&watched_);
  for (const int number : taken)
    if (!is_ignored(number)) ::sigaddset(&watched_, number);
  ::sigaddset(&watched_, SIGRTMIN);  // sent by the destructor
  sigset_t blocked = watched_;
  ::sigaddset(&blocked, SIGTTOU);  // `Terminal` is also used from the background
  ::sigaddset(&blocked, SIGPIPE);  // from the watchdog's pipe, or a closed stderr
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  thread_ = std::thread{[this] { listen(); }};
}

SignalForwarder::~SignalForwarder() {
  closing_ = true;
  ::pthread_kill(thread_.native_handle(), SIGRTMIN);
  thread_.join();
}

void SignalForwarder::forward_to(const Command* command) noexcept {
  const std::lock_guard lock{mutex_};
  command_ = command;
  if (command) forwarded_ = 0;
  if (command) stop_requested_ = false;
  const int early = stopped_by_.exchange(0);
  if (command && early != 0) forward(early);
  if (!command) stop_ = {};  // the signal that came before the command ends nothing else
}

void SignalForwarder::prepare(bool is_preparing) noexcept {
  const std::lock_guard lock{mutex_};
  is_preparing_ = is_preparing;
  if (const int early = stopped_by_; is_preparing && early != 0) die_by_signal(early);
}

void SignalForwarder::listen() noexcept {
  for (int number = 0; !closing_;)
    if (::sigwait(&watched_, &number) == 0 && number != SIGRTMIN) handle(number);
}

void SignalForwarder::handle(int number) noexcept {
  const std::lock_guard lock{mutex_};
  if (command_) return forward(number);
  if (number == SIGTSTP && !is_job_orphaned()) ::kill(::getpid(), SIGSTOP);
  if (!ends_a_wait(number)) return;
  if (is_preparing_) die_by_signal(number);
  stopped_by_ = number;
  stop_.request_stop();
}

void SignalForwarder::forward(int number) noexcept {
  forwarded_ |= std::uint64_t{1} << number;
  if (number == SIGTSTP) stop_requested_ = true;
  command_->signal(number);
  // A stopped process handles these signals only when it continues.
  if (number == SIGTERM || number == SIGHUP || number == SIGINT) command_->signal(SIGCONT);
}

void die_by_signal(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
  ::_exit(killed_by_signal + signal);
}

}  // namespace redlock::tool
