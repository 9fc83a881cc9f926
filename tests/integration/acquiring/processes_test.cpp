// Eight processes with eight threads each add to one counter in a file. No addition may get lost.
#include <sys/types.h>

#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "programs/counter_file.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

using namespace redlock::testing;

namespace {

constexpr int processes = 8;
constexpr int threads_each = 8;
constexpr int additions_each = 12;
constexpr int all_additions = processes * threads_each * additions_each;

/// Runs all processes and returns the final counter.
long count_of_all(const std::vector<std::string>& nodes) {
  const detail::ProcessGroup group;
  const std::string path = group.folder() + "/counter";
  const CounterFile counter{path};
  counter.write(0);
  detail::Launch launch{.arguments = {ADDING_PROCESS, path, "plain", "60000", std::to_string(threads_each),
                                      std::to_string(additions_each)},
                        .group = group.id()};
  launch.arguments.insert(launch.arguments.end(), nodes.begin(), nodes.end());
  std::vector<pid_t> children;
  for (int child = 0; child < processes; ++child) children.push_back(detail::launch(launch));
  for (const pid_t child : children) detail::reap(child);
  return counter.read();
}

}  // namespace

TEST_CASE("additions_of_many_processes_under_the_lock_are_all_counted") {
  LocalNodes nodes{5};
  CHECK(count_of_all(nodes.urls()) == all_additions);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 5; }));
}

TEST_CASE("additions_of_many_processes_without_the_lock_get_lost") {
  const long counted = count_of_all({});
  CHECK(counted > 0);
  CHECK(counted < all_additions);
}
