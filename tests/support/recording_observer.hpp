// An observer that records all events.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "redlock/metrics/observer.hpp"

namespace redlock::testing {

/// Threads: every call from any thread.
class RecordingObserver final : public Observer {
 public:
  void attempted(const Attempt& event) override { add(attempts_, event); }
  void waited(const Wait& event) override { add(waits_, event); }
  void lined_up(const Line& event) override { add(lines_, event); }
  void ended(const Hold& event) override { add(holds_, event); }
  void extended(const Extension& event) override { add(extensions_, event); }
  void broken(const Break& event) override { add(breaks_, event); }
  void node_changed(const Node& event) override { add(nodes_, event); }
  void certificate_seen(const Certificate& event) override { add(certificates_, event); }
  void dropped(std::uint64_t events) override { add(dropped_, events); }

  [[nodiscard]] std::vector<Attempt> attempts() const { return copy(attempts_); }
  [[nodiscard]] std::vector<Wait> waits() const { return copy(waits_); }
  [[nodiscard]] std::vector<Line> lines() const { return copy(lines_); }
  [[nodiscard]] std::vector<Hold> holds() const { return copy(holds_); }
  [[nodiscard]] std::vector<Extension> extensions() const { return copy(extensions_); }
  [[nodiscard]] std::vector<Break> breaks() const { return copy(breaks_); }
  [[nodiscard]] std::vector<Node> nodes() const { return copy(nodes_); }
  [[nodiscard]] std::vector<Certificate> certificates() const { return copy(certificates_); }
  [[nodiscard]] std::vector<std::uint64_t> drops() const { return copy(dropped_); }

 private:
  template <class Event>
  void add(std::vector<Event>& to, const Event& event) {
    const std::lock_guard lock{mutex_};
    to.push_back(event);
  }
  template <class Event>
  [[nodiscard]] std::vector<Event> copy(const std::vector<Event>& from) const {
    const std::lock_guard lock{mutex_};
    return from;
  }

  mutable std::mutex mutex_;
  std::vector<Attempt> attempts_;
  std::vector<Wait> waits_;
  std::vector<Line> lines_;
  std::vector<Hold> holds_;
  std::vector<Extension> extensions_;
  std::vector<Break> breaks_;
  std::vector<Node> nodes_;
  std::vector<Certificate> certificates_;
  std::vector<std::uint64_t> dropped_;
};

}  // namespace redlock::testing
