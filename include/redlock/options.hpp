// The options of a client and of a lock, and the configuration that the environment names.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/duration.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/export.hpp"
#include "redlock/login/credentials.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

class Observer;

/// How a client treats a node that lost its data, and with it perhaps locks that are still held. Such a node
/// gets no vote until `Options::max_ttl` (plus drift) has passed, so that it cannot help a second holder.
enum class RestartGuard {
  automatic,  ///< If none of the nodes has any data, they are new and vote at once.
  strict,     ///< Such nodes wait as well: all of them may have lost their data at the same time.
  off,        ///< Lost data goes unnoticed. For tests, and for locks that only save work.
};

/// Returns the enumerator's name, such as `"strict"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(RestartGuard) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, RestartGuard);

/// Whether a lease renews itself.
enum class Renewal : std::uint8_t {
  /// A thread of the client extends the lease every third of its ttl, until it is released or lost, or
  /// `LockOptions::max_hold` is over. If an extension gets no answer from a majority, it is tried again until the deadline.
  /// So work may take longer than the ttl, and the ttl only says how long others wait after the process has died. A process
  /// that hangs, or that leaks a lease without destroying it, keeps the lock: `max_hold` limits that.
  ///
  /// This is the default, because a lock that ends during the work is worse than one that others wait for. A lease with a ttl
  /// of 3 s or more that is held for less than a second costs no extra command; then the client watches it
  /// (`Lease::stop_token`).
  automatic,
  none,  ///< The lease ends with its ttl, unless it is extended by `Lease::extend`.
};

/// Returns the enumerator's name, such as `"automatic"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Renewal) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Renewal);

/// Who gets a lock that several calls wait for.
enum class Order : std::uint8_t {
  /// First come, first served: waiting calls stand in a line, and a new call does not overtake them. The lock passes from one
  /// holder to the next in two round trips, and nobody polls. Where nobody waits, this costs nothing.
  fifo,
  /// Whoever asks at the right moment: waiting calls try again and again, with pauses of 10 to 400 ms.
  none,
};

/// Returns the enumerator's name, such as `"fifo"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Order) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Order);

/// Options of a client. They are checked when the client is made; a value out of range throws `Error` with
/// `Errc::invalid_argument`.
struct Options {
  /// Time limit for making one connection: name resolution, connecting and login. Also the longest time that
  /// a first call waits for connections. 1 ms to 60 s.
  Duration connect_timeout = std::chrono::milliseconds{500};

  /// How long one node may take to answer before an operation continues without it. 1 ms to 60 s. Default:
  /// 250 ms or a tenth of the ttl, whichever is smaller, so that a hung node never uses up the validity. If a
  /// node has not replied to a command after four node timeouts (1 s by default), the connection is closed
  /// and replaced.
  std::optional<Duration> node_timeout = std::nullopt;

  /// How connections to `rediss://…` are secured. `Endpoint::with` gives a node options of its own.
  TlsOptions tls = {};

  /// Returns how to log in at a node, instead of the endpoint's user and password, which may change while the client runs:
  /// `password_file` makes a source that reads a file.
  ///
  /// It is called for each node when the client is made, on that thread; an exception leaves the constructor. After that
  /// it is called every `credentials_interval`, and at most once a second when a server refuses a login, on one thread of
  /// the client and under no mutex: it may block, and calls for locks go on meanwhile. An exception is reported to
  /// `on_warning`, and the last credentials stay. The client sends changed credentials (`AUTH`) on the connections that
  /// are open, and replaces its second connection to a node when that node has accepted them. A server that refuses them
  /// is asked again after each interval; the connections that are open to it go on with the old ones, while new ones are
  /// only made with the last credentials. Empty credentials are not sent, and change only connections that are made later.
  ///
  /// Destroying the client waits for a call that runs, unless the call does it itself. Default: none.
  CredentialsSource credentials = nullptr;

  /// How often `credentials` is called. 10 ms to 24 hours.
  Duration credentials_interval = std::chrono::seconds{10};

  /// Allowance for clock rates that differ: how far clocks may drift apart during one ttl. Subtracted from
  /// every validity. From 0 to less than the ttl. Default: a hundredth of the ttl plus 2 ms.
  std::optional<Duration> drift = std::nullopt;

  /// How long the nodes remember the last fencing token of a resource that is not locked: this time or ten
  /// ttls, whichever is longer. Zero: forever. 0 to 3650 days. All users of a lock must agree, because each
  /// acquisition and extension sets the time anew. Once the nodes have forgotten the token, new tokens start
  /// from the clients' clocks. They are still greater than the old ones, unless a client's clock is slow by
  /// at least this time.
  Duration fence_memory = std::chrono::hours{24 * 30};

  /// Whether nodes that lost their data are kept from voting. The nodes store what this needs in the keys
  /// `redlock:node` and `redlock:quarantine`, each followed by a colon and the key prefix if there is one. All
  /// users of the nodes with the same `key_prefix` must agree on this option, on `durable_nodes` and on the set
  /// of nodes; users with another prefix need not. `SingleNodeLock` promises nothing after a
  /// restart: it accepts only `automatic`, which has no effect there, and `off`.
  RestartGuard restart_guard = RestartGuard::automatic;

  /// Set this if the nodes write every change to disk before they answer (`appendfsync always`). A node that
  /// restarts with its data then votes at once; one that comes back without any data does not. Has no effect
  /// with `RestartGuard::off`. `SingleNodeLock` refuses it.
  bool durable_nodes = false;

  /// The longest ttl of the locks of a new deployment: the nodes store it with the first lock, and from then on it is
  /// they who refuse longer ones; `Redlock::raise_max_ttl` raises it. A node that lost its data waits for what the
  /// nodes store, and at least for this time, plus the drift. Under `RestartGuard::strict`, the client gets no lock
  /// if the nodes allow longer ttls than this. 10 ms to 365 days. Has no effect with `RestartGuard::off`.
  /// `SingleNodeLock` refuses any value but the default, and limits the ttl to 365 days only.
  Duration max_ttl = std::chrono::seconds{60};

  /// Prefix of every key: the key of a lock is this prefix followed by the resource. Any bytes, up to 1024 of
  /// them; the key must not start with `redlock:`. All users of a lock must have the same prefix. The same key
  /// from another prefix and resource excludes others too, but the restart guard treats it as another lock.
  std::string key_prefix = {};

  /// Called with warnings for people. During construction, on the constructing thread, it reports choices
  /// that work but are unwise (an even number of nodes, `insecure_skip_verify`); an exception that it throws then
  /// leaves the constructor. Later, on one of the client's threads, it reports callbacks, observers and a
  /// `credentials` source that throw, a node that refuses changed credentials, a node that lets waiting calls wait
  /// for others that are not there, and once per client each: a node that does not report deleted locks, and
  /// every reason why servers refuse the waiting line. Default: warnings are dropped.
  std::function<void(std::string_view warning)> on_warning = nullptr;

  /// Receives events for metrics and logs: see `Observer`, and `Prometheus`, which is a ready-made one.
  /// Default: no events are recorded, at no cost.
  std::shared_ptr<Observer> observer = nullptr;
};

/// Options of one lock. They are checked at each call; a value out of range ends it with `Errc::invalid_argument`. Designated
/// initializers, as in `{.ttl = 10s, .shared = true}`, must follow the order of the members.
struct LockOptions {
  /// How long the lock lives on the servers unless it is extended or released. 10 ms to the nodes' `max_ttl`, which is 60 s
  /// by default (`Options::max_ttl`; to 365 days without the restart guard), rounded up to whole milliseconds. A longer ttl
  /// makes others wait longer after a crash; with a shorter one the lock is lost after a shorter pause of the process.
  Duration ttl = std::chrono::seconds{30};

  /// For how long nobody gets the lock after this lease was lost: at the deadline, or because its process died. After a shared
  /// lease, no writer does. Until then, others see the former holder, and its sequencer is valid. Gives a holder that does not
  /// know of its loss yet, and what it has under way, time to end. A release in time frees the lock at once. So does a
  /// deletion of its keys by people, or a node that forgets them, so this replaces no fencing token. The nodes keep the key
  /// for the ttl and the delay, which together are at most the nodes' `max_ttl`. 0 to 365 days, rounded up to whole
  /// milliseconds. Default: 0.
  ///
  /// Source: Burrows, The Chubby lock service, 2006, section 2.4.
  Duration lock_delay = Duration{};

  /// For how long nobody else gets the lock, from the start of the attempt that got it, even if it is released earlier. So a
  /// job that ends at once is not run again by another machine whose clock or timer is a little late. A release in this time
  /// leaves the lock on the nodes without a holder (`Holder::is_kept`), neither the process nor a connection has to stay, and
  /// this client does not get it either. If the process dies, the ttl keeps it. Attempts that fail leave nothing. A release
  /// by `shut_down` or a destructor counts as any other. A deletion of its keys by people ends it, and a node that forgets
  /// them; whoever adopts an orphaned lock gives a time of its own. 0 to the ttl, rounded up to whole milliseconds. Default: 0.
  Duration at_least = Duration{};

  /// Makes the resource a semaphore with so many seats: the call takes any free one, and `Lease::resource` names it. The seats
  /// of `gpu` are the locks `gpu#0`, `gpu#1` and so on, so at most that many leases are valid at any time, and every minority of
  /// the nodes may be gone. A lock of the resource itself is another lock; one of `gpu#0` has that seat, and `gpu#` is not to
  /// be locked, because it names the line. Clients with different numbers share the low seats. A call that finds a seat taken
  /// asks which ones are free and tries up to twelve of them; then it fails with `held`, although another one may just have
  /// become free. A token orders the holders of one seat only, so what it protects has to belong to the seat. An adoption
  /// takes over the seat that the handover names. 1 to 1000. Default: none, the resource is a lock.
  std::optional<std::size_t> seats = std::nullopt;

  /// Makes the call one for a reader: any number of readers hold the lock at a time, but no reader and an exclusive holder, the
  /// writer (docs/shared-locks.md). The writer is whoever locks the resource without this option, also another Redlock client. A
  /// reader's token is greater than those of all earlier writers and smaller than those of all later ones; readers of one
  /// period usually share one. In the order `fifo`, readers do not overtake a writer that waits, so neither starves. Needs
  /// `fencing`, and is refused with `seats` and `at_least`. A shared lease is neither orphaned nor adopted. Default: false.
  bool shared = false;

  /// Whether the lease gets a fencing token. This costs no extra round trip while the nodes' counters agree,
  /// as they usually do, and one more round trip to some of the nodes otherwise. Without a token, the lock is
  /// taken with `SET NX PX`; if restarts are guarded, inside a script that checks the node's marker.
  bool fencing = true;

  /// Whether the lease renews itself, whichever call acquires it.
  Renewal renewal = Renewal::automatic;

  /// Upper bound on the total hold time, counted from the start of the attempt: no extension moves the
  /// deadline beyond it. At least the ttl, at most 3650 days. Default: no limit.
  std::optional<Duration> max_hold = std::nullopt;

  /// Who gets the lock if several calls wait for it. All users of a lock should agree: those with `none`, and other Redlock
  /// clients, may overtake calls that stand in line. While calls stand in line, `try_lock` with `fifo` fails with `held` even
  /// if the lock happens to be free. The line needs rights to the keys `redlock:q?:*` and the channels `redlock:turn:*`.
  /// Default: `fifo`; but if the nodes refuse these rights, calls poll as with `none`, after a warning. If it is set to `fifo`,
  /// they fail with `misconfigured` instead. Without fencing and restart guard, attempts are plain `SET NX PX` commands, which
  /// do not know who stands in line. Adoptions do not wait.
  std::optional<Order> order = std::nullopt;

  /// How long a call for a lock waits, and tries again, if too few nodes vote but enough of them have said when
  /// they vote again, because they have restarted (`NodeReport::votes_in`). After that it fails with `no_quorum`.
  /// 0 to 3650 days. Default: a call that makes one attempt does not wait for nodes, and one that waits for the
  /// lock does so until its end. Has no effect with `RestartGuard::off`.
  std::optional<Duration> node_wait = std::nullopt;

  /// Says to people who holds the lock, wherever a holder is shown (`Holder`). At most 200 bytes; every user of the
  /// nodes can read it. Default: `host:pid program`.
  std::string label = {};

  /// Called once when the lease is lost, on one of the client's threads: at the deadline at the latest, and
  /// at once when a majority of the nodes reports that the owner value is gone (see `Lease::stop_token()`). The copies on
  /// the other nodes then stay, and may keep others from the lock, until the lease is released, or for about the ttl and
  /// `lock_delay` until they expire. It may be called before the call has returned the lease, which is lost then. If a
  /// lease ends earlier than that, it is not called, and the call does not return that lease: a call that waits tries again, any
  /// other fails with `too_slow`, and after a shutdown both fail with `cancelled`. It is not called after a release has
  /// returned; a release on another thread waits for it to finish, unless that release is itself called inside a callback (see
  /// `Lease`). An exception that it throws is reported to `Options::on_warning`. A callback that blocks does not delay those of
  /// other leases, unless 16 callbacks of one client block at the same time. It may release or destroy any lease, and destroy
  /// the client.
  std::function<void(Loss)> on_lost = nullptr;

  /// Called at most once, when somebody asks for the lock by `LockClient::revoke`, with their reason (1 to 200 bytes, which any
  /// user of the nodes may have written). The lease stays as it is: the callback decides, and usually tells the work to end
  /// soon, after which the lease is released. A lease with this callback is watched from the beginning: requests are first read
  /// 5 ms after the grant, and from then on the holder hears within about a round trip; if servers do not report changes,
  /// within a tenth of the ttl. The user needs the right to read the keys `redlock:a*`: a holder without it is never asked, and
  /// nobody is told. Threads, exceptions and releases are as for `on_lost`. Default: requests are not read, and this costs
  /// nothing.
  std::function<void(std::string_view why)> on_revoke = nullptr;
};

/// The nodes of a deployment, and the options on which all its users have to agree.
struct Configuration {
  std::vector<Endpoint> nodes;
  Options options;

  /// Looks up a variable. Returns none if it is not set.
  using Variables = std::function<std::optional<std::string>(const char* name)>;

  /// Reads the variables that the command `redlock` reads too. A variable that is set and not blank replaces the member of
  /// `options`.
  ///
  /// | variable                | value                                                                             |
  /// |-------------------------|-----------------------------------------------------------------------------------|
  /// | `REDLOCK_NODES`         | the nodes: see `Endpoint::list`                                                     |
  /// | `REDLOCK_NODES_FILE`    | a file with such a list. Default: `~/.config/redlock/nodes`, `/etc/redlock/nodes`   |
  /// | `REDLOCK_RESTART_GUARD` | `automatic`, `strict` or `off`                                                    |
  /// | `REDLOCK_DURABLE_NODES` | `1` or `0`                                                                        |
  /// | `REDLOCK_MAX_TTL`       | a time: `60`, `90s`, `5m` or `1h`                                                  |
  /// | `REDLOCK_KEY_PREFIX`    | the key prefix, taken as it is                                                    |
  /// | `REDLOCK_PASSWORD_FILE` | `Options::credentials`: a `password_file` for the nodes without a password           |
  /// | `REDLOCK_TLS_CACERT`    | `Options::tls.ca_file`                                                              |
  /// | `REDLOCK_TLS_CACERTDIR` | `Options::tls.ca_path`                                                              |
  /// | `REDLOCK_TLS_CERT`      | `Options::tls.cert_file`                                                            |
  /// | `REDLOCK_TLS_KEY`       | `Options::tls.key_file`                                                             |
  /// | `REDLOCK_TLS_SERVER_NAME` | `Options::tls.server_name`                                                        |
  /// | `REDLOCK_TLS_MIN_VERSION` | `1.2` or `1.3`: `Options::tls.min_version`                                        |
  /// | `REDLOCK_TLS_CIPHERS`   | `Options::tls.ciphers`                                                              |
  /// | `REDLOCK_TLS_CIPHERSUITES` | `Options::tls.ciphersuites`                                                      |
  /// | `REDLOCK_TLS_INSECURE_SKIP_VERIFY` | `1` or `0`: `Options::tls.insecure_skip_verify`                          |
  ///
  /// `REDLOCK_NODES` comes before any file. Of the two default files, the first one that can be read and names nodes
  /// counts. If nothing names nodes, there are none in the result. A file with a
  /// password that every user of the machine may read is refused. Throws `Error` (invalid_argument) with the name of the
  /// variable or file. `variables`: where to look instead of the environment of the process. Reads files, and the
  /// environment without a lock: no other thread may change it meanwhile.
  [[nodiscard]] REDLOCK_EXPORT static Configuration from_environment(Options options = {},
                                                                     const Variables& variables = nullptr);
};

}  // namespace v1
}  // namespace redlock

#ifdef __cpp_lib_format
template <>
struct std::formatter<redlock::RestartGuard> : redlock::detail::NameFormatter<redlock::RestartGuard> {};
template <>
struct std::formatter<redlock::Renewal> : redlock::detail::NameFormatter<redlock::Renewal> {};
template <>
struct std::formatter<redlock::Order> : redlock::detail::NameFormatter<redlock::Order> {};
#endif
