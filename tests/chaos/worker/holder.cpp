#include "chaos/worker/holder.hpp"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

namespace redlock::chaos {

using namespace std::chrono_literals;

std::string count(Clock::time_point time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Options client_options(const Task& task) {
  return {.restart_guard = task.is_guarded ? RestartGuard::automatic : RestartGuard::off, .max_ttl = max_ttl};
}

Holder::Holder(const Task& task, std::stop_token stop)
    : task_{task},
      stop_{std::move(stop)},
      random_{task.seed},
      log_{task.log},
      locks_{task.nodes, client_options(task)} {
  log_.add(Entry::What::begin, static_cast<std::uint64_t>(::getpid()));
}

std::optional<Held> Holder::acquire(const std::string& resource, const LockOptions& options,
                                    const Call& call) {
  return call_and_note(resource, options, call, options.shared ? "shared" : "");
}

std::optional<Held> Holder::downgrade(Held held) {
  log_.add(Entry::What::end, held.number);
  const std::string resource{held.lease.resource()};
  return call_and_note(
      resource, {},
      [&](Redlock& locks, const LockOptions& options) {
        return locks.downgrade(std::move(held.lease), options);
      },
      "downgraded");
}

std::optional<Held> Holder::call_and_note(const std::string& resource, LockOptions options, const Call& call,
                                          std::string_view how) {
  const std::uint64_t number = ++calls_;
  options.ttl = ttl;
  options.on_lost = [this, number](Loss why) { log_.add(Entry::What::lost, number, to_string(why)); };
  log_.add(Entry::What::call, number, resource);
  LockResult result = call(locks_, options);
  if (!result) {
    log_.add(Entry::What::fail, number, result.code().message());
    return std::nullopt;
  }
  Held held{std::move(result).value(), number};
  noted_ = held.lease.deadline();
  log_.add(Entry::What::hold, number,
           resource + ' ' + std::to_string(held.lease.fencing_token().value()) + ' ' + count(noted_) + ' ' +
               std::string{how});
  if (number % 64 == 1) note_descriptors();
  return held;
}

void Holder::work(Held& held, milliseconds length) {
  const auto end = Clock::now() + length;
  while (!stopped() && Clock::now() < end) {
    std::this_thread::sleep_for(std::min<Clock::duration>(40ms, end - Clock::now()));
    note_extension(held);
  }
}

/// The time is that before the look: a loss that is reported later is later.
void Holder::note_extension(Held& held) {
  const Instant looked = now();
  const Clock::time_point deadline = held.lease.deadline();
  if (deadline == noted_ || !held.lease.valid()) return;
  noted_ = deadline;
  log_.add(looked, Entry::What::extend, held.number, count(deadline));
}

void Holder::extend(Held& held) {
  std::error_code ignored;
  held.lease.extend(ignored);
  note_extension(held);
}

void Holder::release(Held held) {
  log_.add(Entry::What::end, held.number);
  held.lease.release();
}

std::optional<Handover> Holder::orphan(Held held) {
  log_.add(Entry::What::end, held.number);
  return held.lease.orphan();
}

void Holder::rest(milliseconds most) {
  const auto end = Clock::now() + draw(0ms, most);
  while (!stopped() && Clock::now() < end)
    std::this_thread::sleep_for(std::min<Clock::duration>(100ms, end - Clock::now()));
}

milliseconds Holder::patience(milliseconds most) {
  return std::filesystem::exists(task_.folder + "/healed") ? 24h : draw(0ms, most);
}

milliseconds Holder::draw(milliseconds least, milliseconds most) {
  return milliseconds{random_.between(least.count(), most.count())};
}

void Holder::note_descriptors() {
  const std::filesystem::directory_iterator open{"/proc/self/fd"};
  log_.add(Entry::What::open, static_cast<std::uint64_t>(std::distance(begin(open), end(open))));
}

}  // namespace redlock::chaos
