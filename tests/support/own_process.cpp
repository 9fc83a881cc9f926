#include "support/own_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "support/eventually.hpp"

namespace redlock::testing {

std::size_t count_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;  // one of them reads the folder
}

namespace {

/// A sanitizer starts a thread of its own when the process starts its first thread. This must happen before
/// threads are counted.
void start_first_thread() {
  std::filesystem::path task;
  std::thread{[&] { task = "/proc/self/task/" + std::to_string(::gettid()); }}.join();
  if (!eventually([&] { return !std::filesystem::exists(task); }))
    throw std::runtime_error{"a thread that was joined is still there"};
}

}  // namespace

std::set<pid_t> threads() {
  static std::once_flag first;
  std::call_once(first, start_first_thread);
  std::set<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"})
    result.insert(std::stoi(entry.path().filename().string()));
  return result;
}

std::string status_of(pid_t id, const std::string& field) {
  std::ifstream file{"/proc/" + std::to_string(id) + "/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":")) return line.substr(line.find_first_not_of(" \t", field.size() + 1));
  return {};
}

std::uint64_t sleeps_of(pid_t id) { return std::stoull(status_of(id, "voluntary_ctxt_switches")); }

bool is_running_child(pid_t child) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

int exit_code_of_child(int (*body)(void*), void* argument) {
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::system_category(), "fork"};
  if (child == 0) ::_exit(body(argument));
  int status = 0;
  const auto is_over = [&] { return ::waitpid(child, &status, WNOHANG) == child; };
  if (eventually(is_over, std::chrono::minutes{1})) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return -2;
}

}  // namespace redlock::testing
