#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmark/floor/floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "benchmark/seats/cold_seat_floor.hpp"
#include "benchmark/seats/taken_seats.hpp"

namespace redlock::benchmark {
namespace {

struct Setup {
  Setup(unsigned count, bool with_tls)
      : nodes{count},
        servers{static_cast<int>(count), {.tls = with_tls}},
        redlock{endpoints_of(servers), {.tls = servers.tls_options()}},
        unguarded{endpoints_of(servers), {.tls = servers.tls_options(), .restart_guard = RestartGuard::off}},
        single{servers.url(0), {.tls = servers.tls_options()}},
        holding{endpoints_of(servers), {.tls = servers.tls_options(), .restart_guard = RestartGuard::off}},
        guarded{mark(redlock, servers)},
        bare{.owner_end = guarded.owner_end} {}

  unsigned nodes;
  testing::LocalNodes servers;
  Redlock redlock;
  Redlock unguarded;
  SingleNodeLock single;
  Redlock holding;  // besides the lease that is measured, it has some that are renewed and watched
  Wording guarded;  // commands of `redlock`
  Wording bare;     // and of the others
};

Wording with_token(Wording wording) {
  wording.is_fenced = true;
  return wording;
}
Wording of_seat(Wording wording) {
  wording.is_seat = true;
  return wording;
}
Wording of_reader(Wording wording) {
  wording.is_shared = true;
  return wording;
}

Contestant raw(std::string name, const std::vector<RawAddress>& servers, const ResourceName& resource,
               const Wording& wording, std::size_t locks = 1) {
  const auto floor = std::make_shared<Floor>(servers, resource, wording, locks);
  return {std::move(name), static_cast<unsigned>(servers.size()), 1,
          [floor](std::size_t cycles, Samples& samples) { floor->run(cycles, samples); }};
}

Contestant library(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options,
                   ResourceName resource) {
  return {std::move(name), nodes, 1,
          [&locks, options, resource](std::size_t cycles, Samples& samples) mutable {
            measure_cycles(locks, options, resource, cycles, samples);
          }};
}

LockOptions any_seat(LockOptions options) {
  options.seats = seats;
  return options;
}
Contestant raw_cold_seat(std::string name, const testing::LocalNodes& servers, char contestant,
                         const Wording& wording, TakenSeats& others) {
  const auto floor = std::make_shared<ColdSeatFloor>(addresses_of(servers), contestant, of_seat(wording));
  return {std::move(name), static_cast<unsigned>(servers.size()), 1,
          [floor, &others](std::size_t cycles, Samples& samples) { floor->run(others, cycles, samples); }};
}
/// Takes and releases a seat of a semaphore of which the client knows nothing.
Contestant cold_seat(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options,
                     ResourceName resource, TakenSeats& others) {
  return {
      std::move(name), nodes, 1,
      [&locks, options = any_seat(options), resource, &others](std::size_t cycles, Samples& samples) mutable {
        for (std::size_t i = 0; i < cycles; ++i) {
          const std::string_view semaphore = resource.next();
          others.take(semaphore);
          const auto begun = Stopwatch::now();
          LockResult lease = locks.try_lock(semaphore, options);
          if (!lease || lease->release() != Release::released) {
            samples.add_failure(lease ? "not released" : lease.message());
            continue;
          }
          const auto taken = Stopwatch::now() - begun;
          samples.add(taken);
          samples.add_elapsed(taken);
        }
      }};
}

/// Each semaphore or lock that is used again and again has one name.
const ResourceName with_seats = ResourceName::always('x');
const ResourceName with_reader = ResourceName::always('w');
const LockOptions shared{.ttl = ttl, .shared = true};

/// Others have half of the seats, and read all the time.
std::vector<Lease> take_for_others(LockClient& locks) {
  std::vector<Lease> taken;
  while (taken.size() < seats / 2) {
    ResourceName semaphore = with_seats;
    taken.push_back(locks.try_lock(semaphore.next(), any_seat({.ttl = std::chrono::hours{1}})).value());
  }
  for (ResourceName resource : {with_reader, ResourceName::always('J')})
    taken.push_back(locks.try_lock(resource.next(), {.ttl = std::chrono::hours{1}, .shared = true}).value());
  return taken;
}

/// About half of the cycles search for a seat, and take longer than the others. So the median of either half counts.
double typical_of_search(const Contestant& contestant) {
  const Samples& samples = contestant.samples;
  return samples.percentile_us(0.25) + samples.percentile_us(0.75);
}

constexpr std::size_t several = 10;
/// Locks and releases several resources together.
Contestant together(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options,
                    ResourceName resource) {
  return {std::move(name), nodes, 1,
          [&locks, &options, resource](std::size_t cycles, Samples& samples) mutable {
            std::array<std::string, several> names;
            std::array<std::string_view, several> resources;
            const auto all_begun = Stopwatch::now();
            for (std::size_t i = 0; i < cycles; ++i) {
              for (std::size_t each = 0; each < several; ++each)
                resources[each] = names[each] = resource.next();
              const auto begun = Stopwatch::now();
              LockAllResult leases = locks.try_lock_all(resources, options);
              if (!leases || leases->release() != Release::released)
                samples.add_failure(leases ? "not released" : leases.message());
              else
                samples.add(Stopwatch::now() - begun);
            }
            samples.add_elapsed(Stopwatch::now() - all_begun);
          }};
}

/// Locks a mutex again and unlocks it once, by the thread that has locked it.
template <class AnyMutex>
Contestant reentry(std::string name, unsigned nodes, AnyMutex& mutex) {
  return {std::move(name), nodes, 1, [&mutex](std::size_t cycles, Samples& samples) {
            const auto all_begun = Stopwatch::now();
            for (std::size_t i = 0; i < cycles; ++i) {
              const auto begun = Stopwatch::now();
              mutex.lock();
              mutex.unlock();
              samples.add(Stopwatch::now() - begun);
            }
            samples.add_elapsed(Stopwatch::now() - all_begun);
          }};
}

/// One lock, without and with a token.
void add_locks(std::vector<Comparison>& all, Setup& setup) {
  const std::vector<RawAddress> servers = addresses_of(setup.servers);
  const std::vector<RawAddress> first{servers.front()};
  const unsigned nodes = setup.nodes;
  all.push_back({raw("floor", servers, {'f', 0}, setup.guarded),
                 library("redlock", nodes, setup.redlock, plain, {'r', 0})});
  all.push_back({raw("fenced-floor", servers, {'F', 0}, with_token(setup.guarded)),
                 library("redlock-fenced", nodes, setup.redlock, fenced, {'R', 0})});
  all.push_back({raw("unguarded-floor", servers, {'e', 0}, setup.bare),
                 library("unguarded", nodes, setup.unguarded, plain, {'u', 0})});
  all.push_back({raw("unguarded-fenced-floor", servers, {'E', 0}, with_token(setup.bare)),
                 library("unguarded-fenced", nodes, setup.unguarded, fenced, {'U', 0})});
  all.push_back({raw("holding-floor", servers, {'b', 0}, setup.bare),
                 library("holding", nodes, setup.holding, plain, {'c', 0})});
  all.push_back({raw("single-floor", first, {'g', 0}, setup.bare),
                 library("single", 1, setup.single, plain, {'s', 0})});
  all.push_back({raw("single-fenced-floor", first, {'G', 0}, with_token(setup.bare)),
                 library("single-fenced", 1, setup.single, fenced, {'S', 0})});
}

void add_seats(std::vector<Comparison>& all, Setup& setup, TakenSeats& others) {
  const std::vector<RawAddress> servers = addresses_of(setup.servers);
  const unsigned nodes = setup.nodes;
  const Wording bare = of_seat(setup.bare);
  all.push_back({raw("seat-floor", servers, ResourceName::always('h'), bare),
                 library("seat", nodes, setup.unguarded, any_seat(plain), with_seats)});
  all.push_back({raw("seat-fenced-floor", servers, ResourceName::always('H'), with_token(bare)),
                 library("seat-fenced", nodes, setup.unguarded, any_seat(fenced), with_seats)});
  all.push_back({raw_cold_seat("cold-seat-floor", setup.servers, 'l', bare, others),
                 cold_seat("cold-seat", nodes, setup.unguarded, plain, {'k', 0}, others), typical_of_search});
  all.push_back({raw_cold_seat("cold-seat-fenced-floor", setup.servers, 'L', with_token(bare), others),
                 cold_seat("cold-seat-fenced", nodes, setup.unguarded, fenced, {'K', 0}, others),
                 typical_of_search});
}

/// Several locks together, and those of readers.
void add_others(std::vector<Comparison>& all, Setup& setup) {
  const std::vector<RawAddress> servers = addresses_of(setup.servers);
  const unsigned nodes = setup.nodes;
  all.push_back({raw("ten-floor", servers, {'i', 0}, setup.bare, several),
                 together("ten", nodes, setup.unguarded, plain, {'t', 0})});
  all.push_back({raw("ten-fenced-floor", servers, {'I', 0}, with_token(setup.bare), several),
                 together("ten-fenced", nodes, setup.unguarded, fenced, {'T', 0})});
  all.push_back({raw("shared-floor", servers, {'j', 0}, of_reader(setup.bare)),
                 library("shared", nodes, setup.unguarded, shared, {'v', 0})});
  all.push_back({raw("shared-beside-floor", servers, ResourceName::always('J'), of_reader(setup.bare)),
                 library("shared-beside", nodes, setup.unguarded, shared, with_reader)});
}

/// All comparisons, measured with servers, clients and connections of their own.
std::vector<Comparison> measure_with_new_ones(unsigned nodes, bool with_tls, std::size_t cycles) {
  Setup setup{nodes, with_tls};
  TakenSeats others{addresses_of(setup.servers)};
  const std::vector<Lease> taken = take_for_others(setup.holding);
  RecursiveMutex mutex{setup.holding, "re-entered", {.ttl = ttl}};
  const std::scoped_lock locked{mutex};
  std::recursive_timed_mutex std_mutex;
  const std::scoped_lock std_locked{std_mutex};
  std::vector<Comparison> comparisons;
  add_locks(comparisons, setup);
  add_seats(comparisons, setup, others);
  add_others(comparisons, setup);
  comparisons.push_back({reentry("std-re-entry", 0, std_mutex), reentry("re-entry", 0, mutex)});
  measure_by_turns(comparisons, cycles);
  for (Comparison& each : comparisons) each.floor.run = each.measured.run = {};  // what they need ends here
  return comparisons;
}

void add(std::vector<Comparison> more, std::vector<Comparison>& all) {
  if (all.empty()) return all.swap(more);
  for (std::size_t each = 0; each < all.size(); ++each) {
    all[each].floor.samples.merge(more[each].floor.samples);
    all[each].measured.samples.merge(more[each].measured.samples);
  }
}

}  // namespace

// How fast a connection is depends on where its memory lies, by up to some percent for as long as it exists. So there are several.
Report latency(unsigned nodes, bool with_tls, std::size_t cycles) {
  constexpr std::size_t rounds = 5;
  std::vector<Comparison> comparisons;
  for (std::size_t round = 0; round < rounds; ++round)
    add(measure_with_new_ones(nodes, with_tls, cycles * (round + 1) / rounds - cycles * round / rounds),
        comparisons);
  Report report;
  for (const Comparison& each : comparisons) {
    report.rows.emplace_back(each.floor, 1.0);
    report.rows.emplace_back(each.measured, each.typical_us(each.measured) / each.typical_us(each.floor));
  }
  return report;
}

}  // namespace redlock::benchmark
