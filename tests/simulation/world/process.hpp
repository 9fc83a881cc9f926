// A client process: the core as shipped, with a simulated shell and application around it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/lease_check.hpp"
#include "redlock/core/lease/loss_queue.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/joint_pursuit.hpp"
#include "redlock/core/lock/pursuit.hpp"
#include "simulation/judge/judge.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/random.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// The world as a process uses it.
class Surroundings {
 public:
  /// An orphaned lock, which may already be adopted.
  struct Orphan {
    std::string owner;
    std::uint64_t token = 0;
  };

  virtual ~Surroundings() = default;

  /// `line`: one of the engine's connections.
  virtual void dial(int client, int line) = 0;
  virtual void send(int client, int line, std::string_view bytes) = 0;
  /// Sends on a separate connection and ignores the answers.
  virtual void send_separately(int client, int node, std::string_view bytes) = 0;
  /// Closes the connection, if `gracefully` after sending the last bytes.
  virtual void disconnect(int client, int line, bool gracefully, std::string_view last_bytes) = 0;

  /// Calls `Process::wake` for the thread after this time on the clock of the process.
  virtual void wake_in(int client, int what, Instant after) = 0;
  /// Sends a write to the store of the resource. Returns how long it takes.
  virtual Instant write(int client, int resource, std::uint64_t token, const Stores::Seen& seen) = 0;
  virtual void lease_prolonged(Judge::LeaseIndex lease) = 0;
  virtual void lease_over(Judge::LeaseIndex lease, LeaseEnd end) = 0;

  [[nodiscard]] virtual Instant now() const = 0;  // the world's
  [[nodiscard]] virtual std::uint64_t wall_clock_us(int client) const = 0;
  [[nodiscard]] virtual bool is_open() const = 0;  // for new calls
  /// The resource to request next; empty if any will do.
  [[nodiscard]] virtual std::optional<int> most_wanted() const = 0;
  /// True if a free lock has not been granted for so long that clients have to ask for it, and do nothing else.
  [[nodiscard]] virtual bool awaits_grant() const = 0;
  /// The flag of the resource's line keeps newcomers from a majority.
  [[nodiscard]] virtual bool flag_stands(int resource) const = 0;
  virtual void asked(const std::string& owner) = 0;
  /// A call for all locks has returned nothing. Its attempts have asked for these.
  virtual void got_nothing(std::vector<Judge::Asked> asked) = 0;
  /// A thread has ended its call.
  virtual void call_ended(int client) = 0;
  /// Whether locks may still be orphaned.
  [[nodiscard]] virtual bool may_orphan() const = 0;
  virtual void orphaned(int resource, Orphan orphan) = 0;
  /// The last orphaned lock, or null.
  [[nodiscard]] virtual const Orphan* orphan(int resource) const = 0;
  virtual void note(int client, std::string_view text) = 0;
};

class Process {
 public:
  static constexpr int most_threads = 64;
  static constexpr core::Span connect_timeout = std::chrono::milliseconds{100};

  Process(int index, const Schedule& schedule, const Mutant* mutant, Random random, Surroundings& world,
          Judge& judge);
  /// The process dies, and its leases end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void start();
  /// Connects before the first call.
  void connect(core::Time now);
  /// Begins to watch who has the last lock.
  void watch(core::Time now);
  void stop_watching() { engine_.stop_watching(watch_); }
  /// `what`: what the process has given to `wake_in`. Continues a thread, or cancels its call. All times are those of the clock
  /// of the process.
  void wake(int what, core::Time now);

  void connected(int line, core::Time now);
  void answered(int line, const std::vector<core::Reply>& replies, core::Time now);
  void disconnected(int line, core::Time now);
  /// To be called only after everything that has arrived was passed on.
  void on_time(core::Time now);
  [[nodiscard]] core::Time timer(core::Time now) const noexcept;
  /// Whether replies are read: some thread waits, or something must be done although no thread waits. Always true unless
  /// the schedule says that clients read on demand.
  [[nodiscard]] bool reads(core::Time now) const noexcept;
  /// At the end, so that nothing is left.
  void read_always() noexcept { reads_on_demand_ = false; }
  /// Whether the end of a connection for commands is noticed although replies are not read.
  [[nodiscard]] bool notices_ends(core::Time now) noexcept;
  /// Dials, closes and sends as the sessions require. Must not be called while the process is paused.
  void flush();

  /// Describes work that is left although no thread makes calls any more.
  [[nodiscard]] std::optional<std::string> left_over() const;

 private:
  struct Held;
  struct Thread;
  class ObservedPursuit;
  class ObservedJointPursuit;
  class ObservedJointAttempt;

  void note_dial();
  void settle(core::Time now);
  [[nodiscard]] bool rests_on_lost_connections(const core::Tally& tally, core::Time begun) const;
  void judge_grant(const core::Acquisition& granted);
  void judge_renewal(const core::Extension& extension, core::Time now);
  void judge_extension(const Thread& thread, const core::Extension& extension, core::Time now);
  void report_loss(const std::shared_ptr<Held>& lost, core::Time now);
  void call_back(const Thread& told, core::Time now);
  void cancel(Thread& thread, core::Time now);
  [[nodiscard]] int resource_of(std::string_view key) const;
  void wake_later(Thread& thread, Instant after);
  void submit(Thread& thread, std::unique_ptr<core::Operation> operation, core::Time now);
  void begin_call(Thread& thread, core::Time now);
  void await_next_call(Thread& thread);
  [[nodiscard]] std::optional<std::size_t> known_lease();
  bool begin_other_call(Thread& thread, core::Time now);
  bool begin_check(Thread& thread, core::Time now);
  bool break_lock(Thread& thread, core::Time now);
  void request(Thread& thread, core::Time now);
  void listen_to_requests(Thread& thread);
  void heed_requests(core::Time now);
  [[nodiscard]] core::LockCall call_for(const Thread& thread, core::Time now);
  [[nodiscard]] core::Claim terms_of(const Thread& thread);
  [[nodiscard]] core::Claim claim_on(std::string key, core::Claim terms, const Thread& thread) const;
  void pursue(Thread& thread, core::Time now);
  void pursue_all(Thread& thread, core::Time now);
  void joint_attempt_begins(Thread& thread, const std::vector<core::Claim>& claims);
  void joint_call_done(Thread& thread, core::Time now);
  [[nodiscard]] Thread& idle_companion();
  void attempt_begins(Thread& thread, core::Claim& claim);
  void call_done(Thread& thread, core::Time now);
  void name_seat(Thread& thread);
  void granted(Thread& thread, core::Time deadline, core::Time now);
  void acquired(Thread& thread, core::Time now);
  void hold(Thread& thread, core::Time now);
  void extension_ended(Thread& thread, core::Time now);
  void apply_mutant(Thread& thread, core::Time now);
  void end_hold(Thread& thread, core::Time now);
  void downgrade(Thread& thread, core::Time now);
  void release(Thread& thread, core::Time now);
  void released(Thread& thread, core::Time now);
  void rest(Thread& thread);
  [[nodiscard]] std::unique_ptr<core::Operation> wrapped(std::unique_ptr<core::Operation> operation);
  [[nodiscard]] core::OwnerValues draw_owner_values();

  const int index_;
  const Schedule& schedule_;
  const Mutant* mutant_;
  bool reads_on_demand_;
  Random random_;
  Surroundings& world_;
  Judge& judge_;
  core::Engine engine_;
  core::LossQueue<Held> loss_queue_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* ended_ = nullptr;                   // set by its completion while a finished operation is handled
  const core::HolderWatch* watch_ = nullptr;  // of the engine
  bool has_dialled_ = false;
  std::vector<core::Time> lost_at_;  // when the last connection to each node was lost
};

/// The client with this name in lines.
[[nodiscard]] inline int client_of(std::string_view member) { return member[15] - 'a'; }

/// The keys of a team's markers.
[[nodiscard]] inline const core::MarkerKeys& marker_keys_of(int team) {
  static const core::MarkerKeys keys[] = {core::MarkerKeys{}, core::MarkerKeys{"team"}};
  return keys[team];
}

}  // namespace redlock::simulation
