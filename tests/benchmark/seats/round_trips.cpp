#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "benchmark/floor/floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "benchmark/seats/cold_seat_floor.hpp"
#include "benchmark/seats/taken_seats.hpp"
#include "integration/support/proxies.hpp"

namespace redlock::benchmark {
namespace {

/// So far away that all else takes less than half of a round trip.
constexpr std::chrono::milliseconds one_way{10};

/// The mean number of round trips until a client has a seat.
class Acquisitions {
 public:
  Acquisitions(LockClient& locks, std::size_t cycles, double round_trip_us)
      : locks_{locks}, cycles_{cycles}, round_trip_us_{round_trip_us} {}

  template <class Next>
  [[nodiscard]] double measure(LockOptions options, Next next) const {
    options.seats = seats;
    double trips = 0;
    for (std::size_t i = 0; i < cycles_; ++i) {
      const std::string_view semaphore = next();
      const auto begun = Stopwatch::now();
      Lease lease = locks_.try_lock(semaphore, options).value();
      trips += std::round(std::chrono::duration<double, std::micro>{Stopwatch::now() - begun}.count() /
                          round_trip_us_);
      static_cast<void>(lease.release());
    }
    return trips / static_cast<double>(cycles_);
  }

 private:
  LockClient& locks_;
  std::size_t cycles_;
  double round_trip_us_;
};

}  // namespace

Facts seat_trips(unsigned nodes, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  testing::Proxies proxies{servers};
  proxies.set_delay(one_way, one_way);
  std::vector<RawAddress> addresses;
  for (const auto& proxy : proxies) addresses.push_back({proxy->port()});

  Floor floor{addresses, {'f', 0}, {}};
  Samples two_trips;
  floor.run(cycles, two_trips);
  const double round_trip_us = two_trips.percentile_us(0.5) / 2;

  TakenSeats others{addresses_of(servers)};
  ColdSeatFloor cold_floor{addresses_of(servers), 'g', {.is_seat = true}};
  Samples unused;
  cold_floor.run(others, 10 * cycles, unused);

  Redlock client{proxies.endpoints(), {.restart_guard = RestartGuard::off}};
  const Acquisitions acquisitions{client, cycles, round_trip_us};
  ResourceName fresh{'h', 0};
  const auto cold = [&] {
    const std::string_view semaphore = fresh.next();
    others.take(semaphore);
    return semaphore;
  };
  const std::string known{cold()};
  const auto remembered = [&known] { return std::string_view{known}; };
  static_cast<void>(Acquisitions{client, 1, round_trip_us}.measure(plain, remembered));
  Facts facts{{"round_trip_us", round_trip_us},
              {"seat", acquisitions.measure(plain, remembered)},
              {"seat-fenced", acquisitions.measure(fenced, remembered)},
              {"cold-seat-floor", cold_floor.round_trips_per_seat()}};
  facts.emplace_back("cold-seat", acquisitions.measure(plain, cold));
  facts.emplace_back("cold-seat-fenced", acquisitions.measure(fenced, cold));
  return facts;
}

}  // namespace redlock::benchmark
