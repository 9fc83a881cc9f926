// token-contest: many processes compete for a few locks, as writers and readers, while nodes fail. No fencing token may be
// issued twice, and later acquisitions must get greater tokens; readers only than those of writers.
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "contest/contestant.hpp"
#include "contest/token_log.hpp"
#include "redlock/clock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/raw_client.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

namespace {

using namespace redlock::testing;
using namespace std::chrono_literals;
using redlock::Clock;

struct Options {
  unsigned processes = 8;
  std::optional<unsigned> second_rounds;
  ContestantOptions contestant;
  unsigned seconds = 60;
  std::int64_t skew_us = 0;
};

/// The clock errors of the processes. A process whose clock is behind proposes too small a token; the token
/// then follows the nodes' counters, and these disagree.
constexpr std::chrono::hours day{24};
constexpr std::array<std::chrono::microseconds, 8> skews{-50 * 365 * day, -1h,      0us, -30s, -day, -1s,
                                                         274 * 365 * day, -30 * day};

std::string log_of(const detail::ProcessGroup& group, unsigned number) {
  return group.folder() + "/log-" + std::to_string(number);
}

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : random_{seed} {}
  int draw(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  void sleep_up_to(std::chrono::microseconds most) {
    std::this_thread::sleep_for(std::chrono::microseconds{draw(static_cast<int>(most.count()))});
  }

 private:
  std::mt19937_64 random_;
};

/// Lets one node at a time die and come back with its data, or hang.
void let_nodes_fail(LocalNodes& nodes, std::uint64_t seed, Clock::time_point end) {
  RandomSource random{seed};
  while (Clock::now() < end) {
    const int victim = random.draw(nodes.size());
    if (random.draw(2) == 0)
      nodes.kill(victim), random.sleep_up_to(150ms), nodes.restart_with_data(victim);
    else
      nodes.pause(victim), random.sleep_up_to(600ms), nodes.resume(victim);
    random.sleep_up_to(400ms);
  }
}

/// Deletes up to a thousand copies a second while their holders confirm or hold them.
void delete_copies(const LocalNodes& nodes, int resources, std::uint64_t seed, Clock::time_point end) {
  RandomSource random{seed};
  std::vector<std::optional<RawClient>> clients(static_cast<std::size_t>(nodes.size()));
  while (Clock::now() < end) {
    const int node = random.draw(nodes.size());
    auto& client = clients[static_cast<std::size_t>(node)];
    try {
      if (!client) client.emplace(nodes.port(node));
      client->del("resource " + std::to_string(random.draw(resources)));
    } catch (const std::runtime_error&) {
      client.reset();  // the node has just died
    }
    random.sleep_up_to(1ms);
  }
}

/// Starts this program again, as a contestant.
pid_t start(const Options& options, const LocalNodes& nodes, const detail::ProcessGroup& group,
            unsigned number) {
  const auto argument = [](const std::string& name, const auto& value) {
    return "--" + name + "=" + std::to_string(value);
  };
  detail::Launch launch{.arguments = {"/proc/self/exe", argument("seconds", options.seconds),
                                      argument("threads", options.contestant.threads),
                                      argument("resources", options.contestant.resources),
                                      argument("seed", options.contestant.seed * 100 + number),
                                      argument("skew-us", skews.at(number % skews.size()).count()),
                                      "--log=" + log_of(group, number)},
                        .output = group.folder() + "/errors",
                        .group = group.id()};
  for (const std::string& url : nodes.urls()) launch.arguments.push_back("--node=" + url);
  return detail::launch(launch);
}

/// Runs one contest. Returns how many second rounds there were, or none if something is wrong.
std::optional<std::uint64_t> run_contest(const Options& options) {
  LocalNodes nodes{5, {.persist = true}};
  const detail::ProcessGroup group;
  std::vector<pid_t> contestants;
  for (unsigned number = 0; number < options.processes; ++number)
    contestants.push_back(start(options, nodes, group, number));
  const Clock::time_point end = Clock::now() + std::chrono::seconds{options.seconds};
  std::jthread deleting{
      [&] { delete_copies(nodes, options.contestant.resources, options.contestant.seed, end); }};
  let_nodes_fail(nodes, options.contestant.seed, end);
  deleting.join();
  bool all_well = true;
  for (const pid_t contestant : contestants) {
    int status = 0;
    all_well = ::waitpid(contestant, &status, 0) == contestant && status == 0 && all_well;
  }
  if (!all_well) {
    std::cout << "A contestant failed:\n" << std::ifstream{group.folder() + "/errors"}.rdbuf();
    return std::nullopt;
  }
  TokenLog all;
  for (unsigned number = 0; number < options.processes; ++number) {
    const TokenLog log = TokenLog::read(log_of(group, number));
    all.second_rounds += log.second_rounds;
    all.acquired.insert(all.acquired.end(), log.acquired.begin(), log.acquired.end());
  }
  std::cout << all.acquired.size() << " acquisitions, " << all.second_rounds
            << " of them with a second round, seed " << options.contestant.seed << '\n';
  if (const auto violation = find_violation(all.acquired)) {
    std::cout << *violation << '\n';
    return std::nullopt;
  }
  return all.second_rounds;
}

/// Runs contests until there were enough second rounds: on a busy machine one has too few to prove anything. Returns 0 if the
/// tokens are right.
int run_contests(Options options) {
  const std::uint64_t needed = options.second_rounds.value_or(std::min(1000U, 1000 * options.seconds / 60));
  const Clock::time_point last_begin = Clock::now() + 3min;
  std::uint64_t second_rounds = 0;
  do {
    const auto more = run_contest(options);
    if (!more) return 1;
    second_rounds += *more;
    if (second_rounds >= needed) return 0;
    ++options.contestant.seed;
  } while (Clock::now() < last_begin);
  std::cout << "Too few second rounds to prove anything: at least " << needed << " are needed.\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Lets processes compete for locks while nodes die, hang and lose copies, and checks their fencing "
      "tokens",
      "token-contest"};
  Options options;
  ContestantOptions& contestant = options.contestant;
  app.add_option("--seconds", options.seconds, "duration of one contest (default 60)")
      ->envname("REDLOCK_CONTEST_SECONDS")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--processes", options.processes, "processes (default 8)")->check(CLI::Range(1, 64));
  app.add_option("--threads", contestant.threads, "threads per process (default 8)")
      ->check(CLI::Range(1, 64));
  app.add_option("--resources", contestant.resources, "locks to compete for (default 4)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--second-rounds", options.second_rounds,
                 "second rounds needed to pass (default 1000, or 1000 a minute if shorter)");
  app.add_option("--seed", contestant.seed, "seed of the failures and of the threads' actions (default 1)");
  // For the contestants.
  app.add_option("--log", contestant.log)->group("");
  app.add_option("--node", contestant.nodes)->group("");
  app.add_option("--skew-us", options.skew_us)->group("");
  CLI11_PARSE(app, argc, argv);
  if (contestant.nodes.empty()) return run_contests(options);
  contestant.length = std::chrono::seconds{options.seconds};
  contestant.skew = std::chrono::microseconds{options.skew_us};
  contest(contestant);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "token-contest: " << error.what() << '\n';
  return 1;
}
