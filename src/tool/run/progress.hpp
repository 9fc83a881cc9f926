// What redlock run tells people while it waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/kinds/leases.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::tool {

enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// Observes the attempts at the locks, and writes to stderr what they wait for, once they have waited for a second. On a terminal
/// it updates one line, which it removes at the end; elsewhere it writes a line at first and then each minute. It drops what
/// stderr does not take at once.
class Progress final : public Observer {
 public:
  using Now = std::function<Clock::time_point()>;
  using AskHolder = std::function<std::optional<Holder>(const std::string& resource)>;

  /// `next`: receives all events as well; may be null.
  Progress(std::vector<std::string> resources, Verbosity, std::shared_ptr<Observer> next,
           Now now = Clock::now);

  /// Too few nodes vote, and enough of them have said when they vote again.
  void nodes_awaited(std::span<const NodeReport>);
  /// Requests a stop once attempts have found no quorum for so long. Replaces an earlier request.
  void end_without_quorum(std::stop_source, Clock::duration);
  /// How to ask who has a lock; null: nobody can be asked any more. Blocks while somebody is being asked.
  void ask_by(AskHolder);
  /// The wait is over. Nothing is written after this.
  void end(const Leases& taken);

  void attempted(const Attempt&) override;
  void waited(const Wait&) override;
  void lined_up(const Line&) override;
  void ended(const Hold&) override;
  void extended(const Extension&) override;
  void broken(const Break&) override;
  void node_changed(const Node&) override;
  void certificate_seen(const Certificate&) override;
  void dropped(std::uint64_t events) override;

 private:
  [[nodiscard]] bool is_silent() const noexcept { return verbosity_ == Verbosity::quiet || is_over_; }
  /// An event names the seat of a semaphore, or the line for all seats.
  [[nodiscard]] const std::string& resource_of(const std::string& event) const noexcept {
    return resources_.size() == 1 ? resources_.front() : event;
  }
  [[nodiscard]] bool is_due(Clock::time_point now);
  void note_quorum(bool had_quorum, Clock::time_point now);
  void write(const std::string& text, Clock::time_point now);
  void clear_line();

  const std::vector<std::string> resources_;
  const Verbosity verbosity_;
  const std::shared_ptr<Observer> next_;
  const Now now_;
  const Clock::time_point begun_ = now_();
  std::mutex mutex_;
  // The mutex guards all members below.
  std::optional<Clock::time_point> waits_since_;
  std::optional<Clock::time_point> written_at_;
  std::optional<Clock::time_point> no_quorum_since_;
  std::stop_source wait_{std::nostopstate};
  Clock::duration patience_{};
  AskHolder ask_holder_;
  std::optional<Holder> holder_;                    // who was last heard to have the lock
  std::map<std::string, std::uint64_t> positions_;  // by resource: in its line, when that was heard
  bool has_line_ = false;
  bool is_over_ = false;
};

}  // namespace redlock::tool
