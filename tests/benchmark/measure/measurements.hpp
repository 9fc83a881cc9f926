// The measurements of the benchmark. Each starts and stops its own servers.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "benchmark/measure/report.hpp"

namespace redlock::benchmark {

/// The cycle time of one caller compared with raw hiredis, on all nodes and on one; `with_tls`: compared with raw hiredis
/// and OpenSSL, over TLS.
Report latency(unsigned nodes, bool with_tls, std::size_t cycles);

/// The cycle rate of many callers compared with raw hiredis.
Report throughput(unsigned nodes, unsigned callers, std::size_t cycles);

enum class Failure { stop, kill };

/// The cycle time once the client has noticed that `failed` nodes hang or are dead. A majority must be left.
Report degraded(unsigned nodes, Failure failure, unsigned failed, std::size_t cycles);

/// What one hostile node sends without end.
enum class Flood { invalidations, replies, greetings, errors };

/// The cycle rate of one caller while one node floods the client, compared with the rate before. The client holds
/// `leases` leases that renew themselves.
Report hostile(unsigned nodes, Flood flood, unsigned leases, std::size_t cycles);

struct ContentionSetup {
  unsigned nodes;
  std::vector<unsigned> waiters;
  std::size_t holds;  // per row, at least
  unsigned idle_seconds;
  /// If not empty: that many nodes, to which round trips take so many milliseconds longer.
  std::vector<double> delays;
};
/// How fast a lock passes from one holder to the next, with and without order, for each of these numbers of waiters, as
/// processes and as threads of one client, after a time in which all wait.
Contention contention(const ContentionSetup& setup);

/// The run time of `redlock run -n x -- true` compared with a process that does nothing, and the time of the
/// first lock and release of a new client; `with_tls`: also over TLS.
Report start(unsigned nodes, bool with_tls, std::size_t cycles);

/// The time from the deadline of a lease with automatic renewal to the notification of its loss when a
/// majority hangs, compared with a thread that sleeps until the deadline, while `busy` threads compete for
/// the cores. Then the time from the deletion of its keys on a majority to the notification.
Report loss(unsigned nodes, unsigned busy, std::size_t cycles);

/// For how long no lock can be had while people restart, flush and replace nodes: for three and five nodes, and each kind
/// of persistence. Takes eight minutes with the default of 60 s.
Outages outages(unsigned max_ttl_in_seconds);

/// The time from the call by which a leader resigns until the next candidate in line has its lease, and until the last of so many
/// observers, each with a client of its own, was told of it: median and greatest of so many terms.
Facts election(unsigned nodes, unsigned observers, unsigned terms);

/// The mean number of round trips until a client has one of 16 seats, of which others have half: one that remembers the seat that
/// it had before, and one that does not.
Facts seat_trips(unsigned nodes, std::size_t cycles);

/// How many connections one thread makes in a second, without TLS, with full handshakes and with resumed sessions; the CPU
/// time of this process for each; and the memory of `count` connections that are kept.
Facts handshakes(unsigned count);

/// The cost of holding `leases` leases for `seconds`, each of which is renewed after a third of its ttl: the CPU time of all
/// threads of the client, its memory, and the traffic that one server sees. Throws if no lease was renewed.
Facts renew(unsigned nodes, unsigned leases, std::chrono::seconds ttl_of_leases, unsigned seconds);

}  // namespace redlock::benchmark
