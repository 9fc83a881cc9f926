// Starts servers and three workers, kills and pauses workers at random, and checks that every invoice is paid exactly
// once. Arguments: the worker's program.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <redlock/testing/local_nodes.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ledger.hpp"

using namespace std::chrono_literals;

namespace {

constexpr int invoices = 60;
constexpr int most_kills = 12;

/// One worker process, which is killed with this object.
class Worker {
 public:
  Worker(std::string program, std::string database)
      : program_{std::move(program)}, database_{std::move(database)} {
    start();
  }
  ~Worker() { end(SIGKILL); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void restart() {
    end(SIGKILL);
    start();
  }
  void pause() const { ::kill(pid_, SIGSTOP); }
  void resume() const { ::kill(pid_, SIGCONT); }
  /// Waits until all invoices are paid. Returns true if the worker says so.
  bool wait() { return end(SIGCONT) == 0; }

 private:
  void start() {
    char* const arguments[] = {program_.data(), database_.data(), nullptr};
    if (posix_spawn(&pid_, program_.c_str(), nullptr, nullptr, arguments, environ) != 0)
      throw std::runtime_error{"cannot start " + program_};
  }
  int end(int signal) {
    if (pid_ <= 0) return 0;
    int status = 0;
    ::kill(pid_, signal);
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

  std::string program_;
  std::string database_;
  pid_t pid_ = 0;
};

/// A temporary folder, deleted with its contents by the destructor.
struct Folder {
  Folder() {
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error{"cannot create " + path};
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path = (std::filesystem::temp_directory_path() / "invoices-XXXXXX").string();
};

/// Kills two of the workers again and again, while the first one is paused past the ttl of its lock. Returns how often it
/// killed one.
int disturb(std::array<Worker, 3>& workers, Ledger& ledger) {
  workers[0].pause();
  const std::jthread resumes{[&] {
    std::this_thread::sleep_for(3s);
    workers[0].resume();
  }};
  std::mt19937 random{std::random_device{}()};
  int kills = 0;
  while (kills < most_kills && !ledger.unpaid().empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20 + random() % 150});
    workers[1 + random() % 2].restart();
    ++kills;
  }
  return kills;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument{"usage: invoices_crash_test WORKER"};
  const redlock::testing::LocalNodes nodes{3};
  setenv("REDLOCK_NODES", nodes.url_list().c_str(), 1);
  const Folder folder;
  std::string database = folder.path + "/invoices.db";
  Ledger ledger{database};
  ledger.create(invoices);

  std::array<Worker, 3> workers{{{argv[1], database}, {argv[1], database}, {argv[1], database}}};
  while (ledger.unpaid().size() == invoices) std::this_thread::sleep_for(5ms);  // until they are at work
  const int kills = disturb(workers, ledger);
  const bool have_ended =
      std::all_of(workers.begin(), workers.end(), [](Worker& each) { return each.wait(); });

  const std::vector<std::int64_t> payments = ledger.payments();
  const auto once = std::count(payments.begin(), payments.end(), 1);
  std::cout << "3 workers, " << kills << " killed, one paused past its ttl: " << once << " of "
            << payments.size() << " invoices paid exactly once\n";
  return have_ended && kills > 0 && once == invoices ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
