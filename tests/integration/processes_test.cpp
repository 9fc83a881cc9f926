// Eight processes of eight threads, and one counter in a file that none of them may lose an addition to.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/local_nodes.hpp"
#include "support/process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

constexpr int processes = 8;
constexpr int threads_each = 8;
constexpr int additions_each = 12;
constexpr int all_additions = processes * threads_each * additions_each;

/// The rest of the arguments of a process that adds.
constexpr const char* counter_variable = "REDLOCK_TEST_COUNTER";
constexpr const char* nodes_variable = "REDLOCK_TEST_NODES";  // one a line; empty: without a lock

/// A number in a file, read and written without any care for others.
class Counter {
 public:
  explicit Counter(std::string path) : path_{std::move(path)} {}

  [[nodiscard]] long read() const {
    long number = 0;
    std::ifstream{path_} >> number;
    return number;
  }
  void write(long number) const { std::ofstream{path_} << number << '\n'; }
  /// Between reading and writing others get their chance to do the same.
  void add_one() const {
    const long number = read();
    std::this_thread::sleep_for(200us);
    write(number + 1);
  }

 private:
  std::string path_;
};

std::vector<redlock::Endpoint> endpoints_in(const std::string& lines) {
  std::vector<redlock::Endpoint> endpoints;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    endpoints.emplace_back(lines.substr(at, end - at));
    at = end + 1;
  }
  return endpoints;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// A file that is there while this lives, with zero in it.
struct CounterFile {
  CounterFile() {
    ::close(::mkstemp(path.data()));
    Counter{path}.write(0);
  }
  CounterFile(const CounterFile&) = delete;
  CounterFile& operator=(const CounterFile&) = delete;
  ~CounterFile() { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() / "redlock-counter-XXXXXX";
};

/// Sets a variable for the processes that are started while this lives.
class Exported {
 public:
  Exported(const char* name, const std::string& value) : name_{name} { ::setenv(name, value.c_str(), 1); }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  ~Exported() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// Lets all processes add, and returns what the counter says in the end.
long count_of_all(const std::string& nodes) {
  const CounterFile file;
  const Exported counter_path{counter_variable, file.path};
  const Exported node_list{nodes_variable, nodes};
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<pid_t> children;
  for (int child = 0; child < processes; ++child)
    children.push_back(detail::launch({.arguments = {program, "[adding-process]"}}));
  for (const pid_t child : children) detail::reap(child);
  return Counter{file.path}.read();
}

}  // namespace

// Not a test of its own: what the processes below run, in this same program.
TEST_CASE("each_thread_adds_its_share", "[.][adding-process]") {
  const Counter counter{variable(counter_variable)};
  const std::string nodes = variable(nodes_variable);
  std::optional<redlock::Redlock> locks;
  if (!nodes.empty()) locks.emplace(endpoints_in(nodes));
  std::vector<std::jthread> adding;
  for (int thread = 0; thread < threads_each; ++thread)
    adding.emplace_back([&] {
      for (int addition = 0; addition < additions_each; ++addition) {
        std::optional<redlock::Lease> lease;
        if (locks) lease = locks->lock("counter", {.ttl = 60s});
        counter.add_one();
      }
    });
}

TEST_CASE("additions_of_many_processes_under_the_lock_are_all_counted") {
  LocalNodes nodes{5};
  std::string list;
  for (const std::string& url : nodes.urls()) list += url + '\n';
  CHECK(count_of_all(list) == all_additions);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 5; }));
}

TEST_CASE("additions_of_many_processes_without_the_lock_get_lost") {
  const long counted = count_of_all("");
  CHECK(counted > 0);
  CHECK(counted < all_additions);
}
