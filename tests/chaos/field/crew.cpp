#include "chaos/field/crew.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "support/eventually.hpp"
#include "support/own_process.hpp"
#include "testing/process.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

bool is_child(pid_t child, pid_t parent) {
  return testing::status_of(child, "PPid") == std::to_string(parent);
}

/// The child of that name; 0 if there is none.
pid_t child_of(pid_t parent, const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && is_child(pid, parent) && testing::status_of(pid, "Name") == name) return pid;
  }
  return 0;
}

/// None if it has ended, or is no child of `parent`. A descriptor means the same process for ever, unlike a number.
detail::Descriptor open_child(pid_t child, pid_t parent) {
  if (child <= 0) return {};
  detail::Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
  if (!process && errno != ESRCH) throw std::system_error{errno, std::generic_category(), "pidfd_open"};
  return is_child(child, parent) ? std::move(process) : detail::Descriptor{};
}

void send_signal(const detail::Descriptor& process, int number) {
  if (::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0) != 0 && errno != ESRCH)
    throw std::system_error{errno, std::generic_category(), "pidfd_send_signal"};
}

std::string end_of_file(const std::string& path) {
  std::ifstream file{path};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  constexpr std::size_t most = 2000;
  return text.size() <= most ? text : text.substr(text.size() - most);
}

}  // namespace

Crew::Crew(CrewOrders orders, const testing::detail::ProcessGroup& group)
    : orders_{std::move(orders)}, group_{group.id()}, members_(orders_.roles.size()) {
  for (int client = 0; client < static_cast<int>(members_.size()); ++client) {
    clocks_.emplace_back(log_of(client) + ".clock");
    start(client);
  }
}

std::string Crew::log_of(int client) const { return orders_.folder + "/client-" + std::to_string(client); }
std::string Crew::said_by(int client) const { return log_of(client) + ".said"; }
std::string Crew::run_file(int client) const { return log_of(client) + ".run"; }

void Crew::start(int client) {
  Member& started = member(client);
  const std::uint64_t seed =
      orders_.seed * 1'000'000 + static_cast<std::uint64_t>(client) * 10'000 + started.starts++;
  testing::detail::Launch launch{
      .arguments = {"/usr/bin/env", "LD_PRELOAD=" + orders_.clock_library,
                    clock_file_variable + ("=" + log_of(client)) + ".clock", orders_.program, "--role",
                    std::to_string(static_cast<int>(orders_.roles[static_cast<std::size_t>(client)])),
                    "--seed=" + std::to_string(seed), "--log=" + log_of(client), "--folder=" + orders_.folder,
                    "--tool=" + orders_.tool, "--run-file=" + run_file(client)},
      .output = said_by(client),
      .group = group_};
  auto& words = launch.arguments;
  // The C library keeps freed memory for each thread, which looks like a leak for minutes.
  if (orders_.is_memory_judged && orders_.roles[static_cast<std::size_t>(client)] == Role::loading)
    words.insert(words.begin() + 1, "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1");
  words.insert(words.begin() + 1, orders_.environment.begin(), orders_.environment.end());
  words.insert(words.end(), orders_.more.begin(), orders_.more.end());
  for (const std::string& node : orders_.nodes[static_cast<std::size_t>(client % halves)])
    words.push_back("--node=" + node);
  started.pid = testing::detail::launch(launch);
}

/// The process that the fault concerns; none if it is not there at the moment.
detail::Descriptor Crew::victim_of(const Fault& fault) const {
  const pid_t client = process_of(fault.target);
  if (fault.part == Part::client) return open_child(client, ::getpid());
  pid_t run = 0;
  std::ifstream{run_file(fault.target)} >> run;
  detail::Descriptor process = open_child(run, client);
  if (!process || fault.part == Part::run) return process;
  const std::string command = std::filesystem::path{orders_.program}.filename();
  return open_child(child_of(run, fault.part == Part::watchdog ? "redlock-guard" : command), run);
}

bool Crew::begin(const Fault& fault) {
  Member& of = member(fault.target);
  if (fault.kind == Kind::client_clock) {
    clocks_[static_cast<std::size_t>(fault.target)].set(milliseconds{fault.amount});
    return true;
  }
  detail::Descriptor victim = victim_of(fault);
  if (!victim) return false;
  send_signal(victim, fault.kind == Kind::client_stop ? SIGSTOP : SIGKILL);
  if (fault.kind == Kind::client_stop)
    of.stopped = std::move(victim);
  else if (fault.part == Part::client)
    testing::detail::reap(std::exchange(of.pid, 0));
  return true;
}

void Crew::end(const Fault& fault) {
  Member& of = member(fault.target);
  switch (fault.kind) {
    case Kind::client_stop:
      return resume(of);
    case Kind::client_kill:
      if (of.pid == 0) start(fault.target);
      return;
    default:
      return clocks_[static_cast<std::size_t>(fault.target)].set(0ns);
  }
}

void Crew::resume(Member& of) {
  if (of.stopped) send_signal(of.stopped, SIGCONT);
  of.stopped = {};
}

std::optional<std::string> Crew::finish() {
  for (Member& each : members_) {
    resume(each);  // a search may end during a fault
    if (each.pid != 0) ::kill(each.pid, SIGTERM);
  }
  std::optional<std::string> failure;
  const bool all_end = testing::eventually(
      [&] {
        bool all_gone = true;
        for (int client = 0; client < static_cast<int>(members_.size()); ++client) {
          Member& of = member(client);
          int status = 0;
          if (of.pid != 0 && ::waitpid(of.pid, &status, WNOHANG) > 0) of.pid = 0;
          all_gone = all_gone && of.pid == 0;
          if (status != 0) failure = client_name(client) + " has failed:\n" + end_of_file(said_by(client));
        }
        return all_gone;
      },
      60s);
  return all_end ? failure : "a client does not end";
}

std::optional<std::string> Crew::failure() {
  for (int client = 0; client < static_cast<int>(members_.size()); ++client) {
    Member& of = member(client);
    if (of.pid == 0 || !testing::detail::reap(of.pid, WNOHANG)) continue;
    of.pid = 0;
    return client_name(client) + " has ended by itself:\n" + end_of_file(said_by(client));
  }
  return std::nullopt;
}

std::optional<std::string> Crew::sanitizer_report() const {
  for (int client = 0; client < static_cast<int>(members_.size()); ++client) {
    std::ifstream file{said_by(client)};
    const std::string said{std::istreambuf_iterator<char>{file}, {}};
    for (const char* const sign : {"Sanitizer:", "runtime error:"})
      if (said.find(sign) != std::string::npos) return client_name(client) + " says:\n" + said;
  }
  return std::nullopt;
}

}  // namespace redlock::chaos
