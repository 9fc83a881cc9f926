// A client of the locks, which writes down what it gets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "chaos/judge/trace.hpp"
#include "chaos/worker/task.hpp"
#include "redlock/redlock.hpp"
#include "simulation/random.hpp"

namespace redlock::chaos {

using std::chrono::milliseconds;

/// The ttl of all locks, and the longest that the nodes allow.
inline constexpr milliseconds ttl{1000};
inline constexpr milliseconds max_ttl{2000};

/// The options of all clients.
[[nodiscard]] Options client_options(const Task&);
/// A deadline as the log has it.
[[nodiscard]] std::string count(Clock::time_point);

/// A lease, and the number under which the log has it.
struct Held {
  Lease lease;
  std::uint64_t number = 0;
};

/// Not thread safe.
class Holder {
 public:
  Holder(const Task&, std::stop_token stop);

  using Call = std::function<LockResult(Redlock&, const LockOptions&)>;
  /// Makes the call, and writes it down.
  std::optional<Held> acquire(const std::string& resource, const LockOptions& options, const Call& call);
  /// Writes the end of the exclusive lease down, and turns it into a shared one.
  std::optional<Held> downgrade(Held);
  /// Works under the lock for that long, or until the lease ends.
  void work(Held&, milliseconds length);
  void extend(Held&);
  /// Writes the end down, and releases the lock.
  void release(Held);
  /// Writes the end down, and gives the lock up for an adopter.
  std::optional<Handover> orphan(Held);
  /// How long to wait for a lock: drawn up to `most`, or without an end once all faults are over. Then the line serves all.
  [[nodiscard]] milliseconds patience(milliseconds most);
  /// Waits for a time that is drawn up to `most`.
  void rest(milliseconds most);

  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  [[nodiscard]] milliseconds draw(milliseconds least, milliseconds most);
  [[nodiscard]] bool chance(int percent) { return random_.chance(percent); }
  [[nodiscard]] Log& log() noexcept { return log_; }

 private:
  /// `how`: what is special about the lease, for the log.
  std::optional<Held> call_and_note(const std::string& resource, LockOptions options, const Call& call,
                                    std::string_view how);
  void note_extension(Held&);
  void note_descriptors();

  const Task& task_;
  std::stop_token stop_;
  simulation::Random random_;
  Log log_;
  Redlock locks_;
  std::uint64_t calls_ = 0;
  Clock::time_point noted_;  // the deadline that the log has
};

}  // namespace redlock::chaos
