#include "tool/watch/termination.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "os/system_error.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::tool {

Termination::Termination() {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) detail::throw_errno("mmap");
  shared_.reset(new (memory) Shared);
}

void Termination::Unmap::operator()(Shared* shared) const noexcept { ::munmap(shared, sizeof *shared); }

void Termination::begin(pid_t group, Clock::time_point deadline, Clock::duration grace) noexcept {
  shared_->deadline = deadline;
  shared_->grace = grace;
  shared_->group = group;
}

void Termination::move(Clock::time_point deadline) noexcept {
  if (!has_begun_by(Clock::now())) shared_->deadline = deadline;
}

void Termination::send_due() noexcept {
  const Clock::time_point kill_at = this->kill_at();
  const Clock::time_point now = Clock::now();
  if (now >= kill_at - shared_->grace.load()) terminate();
  if (now >= kill_at) kill();
}

void Termination::end_within(Clock::duration time) noexcept {
  if (shared_->group == 0) return;
  const Clock::time_point end = core::later(Clock::now(), time);
  Clock::time_point earlier = shared_->end;
  while (end < earlier && !shared_->end.compare_exchange_weak(earlier, end)) {
  }
  terminate();
}

void Termination::kill_now() noexcept {
  if (shared_->group == 0) return;
  terminate();
  kill();
}

Clock::time_point Termination::due() const noexcept {
  if (shared_->group == 0 || shared_->is_over) return core::never;
  const Clock::time_point kill_at = this->kill_at();
  return has_begun_by(Clock::now()) ? kill_at : kill_at - shared_->grace.load();
}

Clock::time_point Termination::kill_at() const noexcept {
  return std::min(shared_->deadline.load(), shared_->end.load());
}

bool Termination::has_begun_by(Clock::time_point when) const noexcept {
  return shared_->begun.load() <= when;
}

/// Claims the SIGTERM before it sends it. If this process is stopped in between, SIGTERM is late, but SIGKILL is not.
void Termination::terminate() noexcept {
  Clock::time_point none = Clock::time_point::max();
  if (!shared_->begun.compare_exchange_strong(none, Clock::now())) return;
  ::kill(-shared_->group, SIGTERM);
  ::kill(-shared_->group, SIGCONT);  // a stopped command handles SIGTERM only when it continues
}

/// Sends SIGKILL before it says so. If this process is stopped in between, another one sends it as well.
void Termination::kill() noexcept {
  if (shared_->is_over) return;
  ::kill(-shared_->group, SIGKILL);
  ::kill(shared_->group, SIGKILL);  // the command may have moved to another group
  shared_->is_over = true;
}

}  // namespace redlock::tool
