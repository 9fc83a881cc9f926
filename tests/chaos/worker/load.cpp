#include "chaos/worker/load.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/judge/trace.hpp"
#include "chaos/worker/holder.hpp"
#include "redlock/redlock.hpp"
#include "simulation/random.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

constexpr int callers = 16;
constexpr int resources = 40;
constexpr std::uint64_t logged_share = 16;  // one call of so many

/// What the threads of one client share.
struct Shared {
  Redlock locks;
  Log log;
  std::atomic<std::uint64_t> calls = 0;
};

/// One thread.
class Caller {
 public:
  Caller(Shared& shared, std::uint64_t seed, std::stop_token stop)
      : shared_{shared}, random_{seed}, stop_{std::move(stop)} {}

  void run() {
    while (!stop_.stop_requested()) lock_once();
  }

 private:
  void lock_once() {
    const std::uint64_t number = ++shared_.calls;
    const bool is_logged = number % logged_share == 1;
    const std::string resource = "load-" + std::to_string(random_.between(1, resources));
    const Instant called = now();
    const LockOptions wanted = options(number, is_logged);
    LockResult result = call(resource, wanted);
    if (!result) return;
    Lease lease = std::move(result).value();
    if (is_logged) {
      shared_.log.add(called, Entry::What::call, number, resource);
      shared_.log.add(Entry::What::hold, number,
                      resource + ' ' + std::to_string(lease.fencing_token().value()) + ' ' +
                          count(lease.deadline()) + (wanted.shared ? " shared" : ""));
    }
    std::error_code ignored;
    if (random_.chance(20)) lease.extend(ignored);
    // Long enough to be renewed.
    if (random_.chance(1)) std::this_thread::sleep_for(ttl);
    if (is_logged) shared_.log.add(Entry::What::end, number);
    if (random_.chance(90)) lease.release();  // else its destructor does
  }

  LockOptions options(std::uint64_t number, bool is_logged) {
    LockOptions options{.ttl = ttl};
    if (random_.chance(50)) options.renewal = Renewal::none;
    if (random_.chance(70)) options.order = Order::none;
    options.shared = random_.chance(30);
    options.on_lost = [&log = shared_.log, number, is_logged](Loss why) {
      if (is_logged) log.add(Entry::What::lost, number, to_string(why));
    };
    return options;
  }
  LockResult call(const std::string& resource, const LockOptions& options) {
    if (options.order == Order::none && random_.chance(40)) return shared_.locks.try_lock(resource, options);
    return shared_.locks.try_lock_for(resource, milliseconds{random_.between(1, 1000)}, options, stop_);
  }

  Shared& shared_;
  simulation::Random random_;
  std::stop_token stop_;
};

}  // namespace

void lock_without_pause(const Task& task, const std::stop_token& stop) {
  Shared shared{.locks = Redlock{task.nodes, client_options(task)}, .log = Log{task.log}};
  shared.log.add(Entry::What::begin, static_cast<std::uint64_t>(::getpid()));
  std::vector<std::jthread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&shared, &stop, seed = task.seed * callers + static_cast<std::uint64_t>(caller)] {
      Caller{shared, seed, stop}.run();
    });
}

}  // namespace redlock::chaos
