#include <array>
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
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::benchmark {
namespace {

Contestant raw(std::string name, unsigned nodes, Floor& floor) {
  return {std::move(name), nodes, 1,
          [&floor](std::size_t cycles, Samples& samples) { floor.run(cycles, samples); }};
}

Contestant library(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options,
                   ResourceName resource) {
  return {std::move(name), nodes, 1,
          [&locks, &options, resource](std::size_t cycles, Samples& samples) mutable {
            measure_cycles(locks, options, resource, cycles, samples);
          }};
}

LockOptions any_seat(LockOptions options) {
  options.seats = seats;
  return options;
}
/// Takes and releases a seat of a semaphore.
Contestant seat(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options) {
  return {std::move(name), nodes, 1,
          [&locks, options = any_seat(options)](std::size_t cycles, Samples& samples) {
            SameName semaphore;
            measure_cycles(locks, options, semaphore, cycles, samples);
          }};
}
constexpr std::string_view cold_floor_name = "cold-seat-floor";
Contestant raw_cold_seat(unsigned nodes, ColdSeatFloor& floor, TakenSeats& others) {
  return {std::string{cold_floor_name}, nodes, 1,
          [&](std::size_t cycles, Samples& samples) { floor.run(others, cycles, samples); }};
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
/// Others have half of the seats.
std::vector<Lease> take_half(LockClient& locks) {
  std::vector<Lease> taken;
  while (taken.size() < seats / 2)
    taken.push_back(locks.try_lock(SameName{}.next(), any_seat({.ttl = std::chrono::hours{1}})).value());
  return taken;
}

const LockOptions shared{.ttl = ttl, .shared = true};
/// The floor does not repeat commands whose script a node does not know.
void load_scripts_of_readers(const testing::LocalNodes& servers) {
  for (const RawAddress& address : addresses_of(servers))
    for (const core::Script* const script : {&core::shared_grant_script, &core::shared_release_script})
      NodeConnection{address}.ask({"SCRIPT", "LOAD", script->source});
}
/// Another reader has the lock all the time.
Contestant beside_reader(std::string name, unsigned nodes, LockClient& locks) {
  return {std::move(name), nodes, 1, [&locks](std::size_t cycles, Samples& samples) {
            SameName resource;
            measure_cycles(locks, shared, resource, cycles, samples);
          }};
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

/// About half of the cycles search for a seat, and take longer than the others. So the median of either half counts.
double typical_us(const Contestant& contestant) {
  const Samples& samples = contestant.samples;
  return samples.percentile_us(0.25) + samples.percentile_us(0.75);
}
Row compare(const Contestant& contestant, const Contestant& floor) {
  if (floor.name == cold_floor_name) return {contestant, typical_us(contestant) / typical_us(floor)};
  return {contestant, contestant.samples.percentile_us(0.5) / floor.samples.percentile_us(0.5)};
}

}  // namespace

Report latency(unsigned nodes, bool with_tls, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes), {.tls = with_tls}};
  const TlsOptions tls = servers.tls_options();
  Redlock redlock{endpoints_of(servers), {.tls = tls}};
  Redlock unguarded{endpoints_of(servers), {.tls = tls, .restart_guard = RestartGuard::off}};
  SingleNodeLock single{servers.url(0), {.tls = tls}};
  RecursiveMutex mutex{redlock, "re-entered", {.ttl = ttl}};
  const std::scoped_lock locked{mutex};
  std::recursive_timed_mutex std_mutex;
  const std::scoped_lock std_locked{std_mutex};
  const Wording guarded = mark(redlock, servers);
  const Wording bare{.owner_end = guarded.owner_end};
  Floor floor{addresses_of(servers), 'f', guarded};
  Floor unguarded_floor{addresses_of(servers), 'e', bare};
  Floor single_floor{{addresses_of(servers).front()}, 'g', bare};
  Floor seat_floor{addresses_of(servers), 'h', bare};
  ColdSeatFloor cold_seat_floor{addresses_of(servers), 'l', bare.owner_end};
  TakenSeats others{addresses_of(servers)};
  Floor several_floor{addresses_of(servers), 'i', bare, several};
  const std::vector<Lease> taken = take_half(unguarded);
  const Lease reader = unguarded.lock(SameName{}.next(), shared).value();
  load_scripts_of_readers(servers);
  Floor shared_floor{addresses_of(servers), 'j', {.owner_end = bare.owner_end, .is_shared = true}};
  std::vector<Contestant> contestants{
      raw("floor", nodes, floor),
      library("redlock", nodes, redlock, plain, {'r', 0}),
      library("redlock-fenced", nodes, redlock, fenced, {'R', 0}),
      raw("unguarded-floor", nodes, unguarded_floor),
      library("unguarded", nodes, unguarded, plain, {'u', 0}),
      library("unguarded-fenced", nodes, unguarded, fenced, {'U', 0}),
      raw("single-floor", 1, single_floor),
      library("single", 1, single, plain, {'s', 0}),
      library("single-fenced", 1, single, fenced, {'S', 0}),
      raw("seat-floor", nodes, seat_floor),
      seat("seat", nodes, unguarded, plain),
      seat("seat-fenced", nodes, unguarded, fenced),
      raw_cold_seat(nodes, cold_seat_floor, others),
      cold_seat("cold-seat", nodes, unguarded, plain, {'k', 0}, others),
      cold_seat("cold-seat-fenced", nodes, unguarded, fenced, {'K', 0}, others),
      raw("ten-floor", nodes, several_floor),
      together("ten", nodes, unguarded, plain, {'t', 0}),
      together("ten-fenced", nodes, unguarded, fenced, {'T', 0}),
      raw("shared-floor", nodes, shared_floor),
      library("shared", nodes, unguarded, shared, {'v', 0}),
      beside_reader("shared-beside", nodes, unguarded),
      reentry("std-re-entry", 0, std_mutex),
      reentry("re-entry", 0, mutex),
  };
  measure_by_turns(contestants, cycles);
  Report report;
  for (std::size_t i = 0; i < contestants.size(); ++i)
    report.rows.push_back(compare(contestants[i], contestants[i - i % 3]));
  return report;
}

}  // namespace redlock::benchmark
