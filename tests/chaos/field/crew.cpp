#include "chaos/field/crew.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "support/eventually.hpp"
#include "testing/process.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

/// Whether it is a child of `parent`: only then does the number still mean that process.
bool is_child(pid_t child, pid_t parent) {
  std::ifstream file{"/proc/" + std::to_string(child) + "/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream rest{text.substr(name_end + 1)};
  std::string state;
  pid_t found = 0;
  return rest >> state >> found && found == parent;
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
std::string Crew::victim_file(int client) const { return log_of(client) + ".victim"; }

void Crew::start(int client) {
  Member& started = member(client);
  const std::uint64_t seed =
      orders_.seed * 1'000'000 + static_cast<std::uint64_t>(client) * 10'000 + started.starts++;
  testing::detail::Launch launch{
      .arguments = {"/usr/bin/env", "LD_PRELOAD=" + orders_.clock_library,
                    clock_file_variable + ("=" + log_of(client)) + ".clock", orders_.program, "--role",
                    std::to_string(static_cast<int>(orders_.roles[static_cast<std::size_t>(client)])),
                    "--seed=" + std::to_string(seed), "--log=" + log_of(client), "--folder=" + orders_.folder,
                    "--tool=" + orders_.tool, "--victim=" + victim_file(client)},
      .output = said_by(client),
      .group = group_};
  auto& words = launch.arguments;
  // The C library keeps freed memory for each thread, which looks like a leak for minutes.
  if (orders_.is_memory_judged && orders_.roles[static_cast<std::size_t>(client)] == Role::loading)
    words.insert(words.begin() + 1, "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1");
  words.insert(words.end(), orders_.more.begin(), orders_.more.end());
  for (const std::string& node : orders_.nodes[static_cast<std::size_t>(client % halves)])
    words.push_back("--node=" + node);
  started.pid = testing::detail::launch(launch);
}

/// The process that a fault of this client concerns; 0 if there is none at the moment.
pid_t Crew::victim_of(int client) const {
  const Member& of = members_[static_cast<std::size_t>(client)];
  if (orders_.roles[static_cast<std::size_t>(client)] != Role::running) return of.pid;
  pid_t victim = 0;
  std::ifstream{victim_file(client)} >> victim;
  return victim > 0 && is_child(victim, of.pid) ? victim : 0;
}

void Crew::begin(const Fault& fault) {
  Member& of = member(fault.target);
  const pid_t victim = victim_of(fault.target);
  switch (fault.kind) {
    case Kind::client_stop:
      of.victim = victim;
      if (victim > 0) ::kill(victim, SIGSTOP);
      return;
    case Kind::client_kill:
      if (victim > 0) ::kill(victim, SIGKILL);
      if (victim == of.pid) testing::detail::reap(std::exchange(of.pid, 0));
      return;
    default:
      return clocks_[static_cast<std::size_t>(fault.target)].set(milliseconds{fault.amount});
  }
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
  if (of.victim != 0 && (of.victim == of.pid || is_child(of.victim, of.pid))) ::kill(of.victim, SIGCONT);
  of.victim = 0;
}

bool Crew::finish() {
  for (Member& each : members_) {
    resume(each);  // a search may end during a fault
    if (each.pid != 0) ::kill(each.pid, SIGTERM);
  }
  return testing::eventually(
      [this] {
        bool all_gone = true;
        for (Member& each : members_) {
          if (each.pid != 0 && testing::detail::reap(each.pid, WNOHANG)) each.pid = 0;
          all_gone = all_gone && each.pid == 0;
        }
        return all_gone;
      },
      60s);
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
