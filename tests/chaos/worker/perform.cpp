#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "chaos/worker/holder.hpp"
#include "chaos/worker/load.hpp"
#include "chaos/worker/stores.hpp"
#include "chaos/worker/task.hpp"
#include "simulation/scenario/schedule.hpp"
#include "testing/process.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

void hold_plainly(Holder& holder) {
  const milliseconds wait = holder.patience(800ms);
  auto held =
      holder.acquire("till", {.renewal = Renewal::none}, [&](Redlock& locks, const LockOptions& options) {
        return locks.try_lock_for("till", wait, options, holder.stop());
      });
  if (held) {
    holder.work(*held, holder.draw(0ms, ttl));
    if (holder.chance(30)) {
      holder.extend(*held);
      holder.work(*held, holder.draw(0ms, ttl * 3 / 2));
    }
    holder.release(std::move(*held));
  }
  holder.rest(400ms);
}

void hold_long(Holder& holder) {
  auto held = holder.acquire("till", {}, [&](Redlock& locks, const LockOptions& options) {
    return locks.try_lock_for("till", holder.patience(3s), options, holder.stop());
  });
  if (held) {
    holder.work(*held, holder.draw(0ms, ttl * 5 / 2));
    holder.release(std::move(*held));
  }
  holder.rest(1500ms);
}

/// Reads, thinks, and writes what it has made of what it has read, as late as that may be: some do not look at the deadline.
void change_stores(Holder& holder, Held& held, SharedStores& stores) {
  try {
    const FencingToken token = held.lease.fencing_token();
    const SharedStores::Seen seen = stores.read(token);
    holder.work(held, holder.draw(0ms, holder.chance(40) ? ttl * 3 : ttl / 3));
    stores.write_unfenced(seen);
    stores.write_fenced(token, seen);
  } catch (const StaleToken&) {  // it was paused, and another one has the lock
  }
}

/// The same with a store that checks no token. So it keeps its deadline, and is not late although it may get no processor for a
/// while.
void change_unfenced_store(Holder& holder, Held& held, SharedStores& stores) {
  const SharedStores::Seen seen = stores.read({});
  holder.work(held, holder.draw(0ms, ttl * 2 / 3));
  stores.write_unfenced_before(held.lease.deadline() - ttl / 4, seen);
}

void hold_and_change(Holder& holder, SharedStores& stores, const Task& task) {
  auto held =
      holder.acquire("till", {.renewal = Renewal::none}, [&](Redlock& locks, const LockOptions& options) {
        return locks.try_lock_for("till", holder.patience(2s), options, holder.stop());
      });
  if (held) {
    task.uses_tokens ? change_stores(holder, *held, stores) : change_unfenced_store(holder, *held, stores);
    holder.release(std::move(*held));
  }
  holder.rest(200ms);
}

void stand_in_line(Holder& holder) {
  auto held =
      holder.acquire("queue", {.order = Order::fifo}, [&](Redlock& locks, const LockOptions& options) {
        return locks.lock("queue", options, holder.stop());
      });
  if (held) {
    holder.work(*held, holder.draw(0ms, 1500ms));
    holder.release(std::move(*held));
  }
  holder.rest(300ms);
}

/// Puts the handover where an adopter finds it whole.
void hand_over(Holder& holder, const std::string& folder) {
  auto held = holder.acquire("parcel", {}, [&](Redlock& locks, const LockOptions& options) {
    return locks.try_lock_for("parcel", holder.patience(3s), options, holder.stop());
  });
  if (held) {
    holder.work(*held, holder.draw(0ms, 500ms));
    if (const auto handover = holder.orphan(std::move(*held))) {
      const std::string path = folder + "/parcel";
      std::ofstream{path + ".new"} << handover->to_string();
      std::filesystem::rename(path + ".new", path);
    }
  }
  holder.rest(500ms);
}

void take_over(Holder& holder, const std::string& folder) {
  const std::string path = folder + "/parcel";
  std::string text;
  std::getline(std::ifstream{path}, text);
  if (!text.empty()) {
    std::filesystem::remove(path);
    auto held = holder.acquire("parcel", {}, [&](Redlock& locks, const LockOptions& options) {
      return locks.adopt(Handover::parse(text), options);
    });
    if (held) {
      holder.work(*held, holder.draw(0ms, ttl * 2));
      holder.release(std::move(*held));
    }
  }
  holder.rest(100ms);
}

/// Reads beside other readers, or writes, and then often becomes a reader.
void read_or_write(Holder& holder) {
  const milliseconds wait = holder.patience(3s);
  const bool writes = holder.chance(40);
  const LockOptions wanted{.shared = !writes,
                           .renewal = holder.chance(50) ? Renewal::none : Renewal::automatic};
  auto held = holder.acquire("stock", wanted, [&](Redlock& locks, const LockOptions& options) {
    return locks.try_lock_for("stock", wait, options, holder.stop());
  });
  if (held && writes && holder.chance(60)) {
    holder.work(*held, holder.draw(0ms, ttl / 2));
    held = holder.downgrade(*std::move(held));
  }
  if (held) {
    holder.work(*held, holder.draw(0ms, ttl));
    if (holder.chance(30)) {
      holder.extend(*held);
      holder.work(*held, holder.draw(0ms, ttl * 3 / 2));
    }
    holder.release(*std::move(held));
  }
  holder.rest(400ms);
}

/// Starts `redlock run` with this program as its command, and waits for its end.
void run_command(Holder& holder, const Task& task, std::uint64_t number) {
  testing::detail::Launch launch{.arguments = {task.tool, "run", "--quiet", "--ttl", "2s", "--kill-after",
                                               "1s", "--wait", "3s", "--max-ttl", "2s"},
                                 .output = task.log + ".said",
                                 .group = ::getpgrp()};
  const auto add = [&](const std::string& word) { launch.arguments.push_back(word); };
  if (!task.is_guarded) add("--restart-guard"), add("off");
  for (const std::string& node : task.nodes) add("--node"), add(node);
  for (const char* word : {"job", "--"}) add(word);
  for (const std::string& word : {task.own, "--role=" + std::to_string(static_cast<int>(Role::command)),
                                  "--log=" + task.log, "--seed=" + std::to_string(number)})
    add(word);
  holder.log().add(Entry::What::call, number, "job");
  const pid_t child = testing::detail::launch(launch);
  std::ofstream{task.run_file} << child;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (holder.stopped()) ::kill(child, SIGTERM);
    std::this_thread::sleep_for(50ms);
  }
  // It ends with the exit code of its command, as a shell would.
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
  for (const int crash : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE})
    if (signal == crash)
      throw std::runtime_error{"redlock run or its command was ended by signal " + std::to_string(crash)};
  std::filesystem::resize_file(task.run_file, 0);
  holder.rest(500ms);
}

/// What runs under `redlock run`. It never works without the lock, says its manual.
void work_as_command(const Task& task, const std::stop_token& stop) {
  Log log{task.log};
  simulation::Random random{task.seed};
  const Instant deadline = std::stoll(std::getenv("REDLOCK_DEADLINE_MS")) * simulation::millisecond;
  log.add(
      Entry::What::hold, task.seed,
      "job " + std::string{std::getenv("REDLOCK_FENCING_TOKEN")} + ' ' + std::to_string(deadline) + " signs");
  const Instant end = now() + random.between(0, 3000) * simulation::millisecond;
  while (!stop.stop_requested() && now() < end) {
    log.add(Entry::What::alive, task.seed);
    std::this_thread::sleep_for(50ms);
  }
  log.add(Entry::What::end, task.seed);
}

void repeat(const Task& task, const std::stop_token& stop) {
  if (task.role == Role::command) return work_as_command(task, stop);
  if (task.role == Role::loading) return lock_without_pause(task, stop);
  Holder holder{task, stop};
  std::optional<SharedStores> stores;
  if (task.role == Role::fenced) stores.emplace(task.folder + "/stores");
  for (std::uint64_t number = 1; !holder.stopped(); ++number) {
    switch (task.role) {
      case Role::plain:
        hold_plainly(holder);
        break;
      case Role::renewed:
        hold_long(holder);
        break;
      case Role::fenced:
        hold_and_change(holder, *stores, task);
        break;
      case Role::waiting:
        stand_in_line(holder);
        break;
      case Role::giving:
        hand_over(holder, task.folder);
        break;
      case Role::taking:
        take_over(holder, task.folder);
        break;
      case Role::running:
        run_command(holder, task, number);
        break;
      case Role::reading:
        read_or_write(holder);
        break;
      case Role::loading:
      case Role::command:
        break;
    }
  }
}

}  // namespace

void perform(const Task& task) {
  sigset_t ending;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGTERM);
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &ending, nullptr))
    throw std::system_error{code, std::generic_category()};
  std::stop_source stop;
  std::jthread waits{[&] {
    int signal = 0;
    ::sigwait(&ending, &signal);
    stop.request_stop();
  }};
  try {
    repeat(task, stop.get_token());
  } catch (...) {
    ::kill(::getpid(), SIGTERM);
    throw;
  }
  ::kill(::getpid(), SIGTERM);  // in case that nobody has sent it
}

}  // namespace redlock::chaos
