// All lines of one client.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/line/line.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/operation/tally.hpp"

namespace redlock::inline v1::core {

/// The lines in which a client's calls wait, by key. Events only note what has changed; `advance` acts.
class Lines {
 public:
  /// `member`: this client's name in all lines: 16 hex digits, which name its channel, a dot and a label.
  Lines(std::string member, std::size_t nodes, LineContext& context)
      : member_{std::move(member)}, nodes_{nodes}, context_{context} {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // ── from the waiting calls ───────────────────────────────────────────────────────────────────────────────

  /// Whether a new call joins the line before its first attempt, because calls of this client wait for the same lock or
  /// did so a moment ago. Its attempt would fail, or overtake them.
  [[nodiscard]] bool wants_to_join(std::string_view key, Time now) const {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return false;
    return entry->second.line->has_waiters() || now < entry->second.line->left_at() + a_look();
  }
  void join(Waiter& waiter) {
    const std::string& key = waiter.terms().key;
    auto entry = entries_.find(key);
    if (entry == entries_.end())
      entry =
          entries_.emplace(key, Entry{Ref<Line>{new Line{key, member_, nodes_, context_, touched_}}}).first;
    entry->second.line->add(waiter);
  }
  /// The call has ended, or waits outside. Does nothing for a call that does not stand in line.
  void leave(Waiter& waiter) {
    with(waiter.terms().key, [&](Line& line) { line.remove(waiter); });
  }
  void attempt_failed(const Waiter& waiter, LineHead::Attempt how, Time now) {
    with(waiter.terms().key, [&](Line& line) { line.attempt_ended(waiter, how, now); });
  }
  /// `heeded_flag`: the nodes would have denied the attempt if they had the flag.
  void attempt_succeeded(Waiter& waiter, bool heeded_flag, Time now) {
    with(waiter.terms().key, [&](Line& line) {
      if (!line.attempt_succeeded(waiter) && heeded_flag) context_.contradicted(*line.gate(), now);
      line.remove(waiter);
    });
  }

  /// A seat of a semaphore that became free, as far as this client knows.
  [[nodiscard]] std::optional<std::size_t> take_freed(std::string_view line_key, std::size_t seats) {
    return freed_.take(line_key, seats);
  }

  /// What was refused is tried again so much later: somebody may have granted the rights meanwhile.
  static constexpr Span pause_after_refusal = std::chrono::minutes{1};
  /// Whether attempts name the flag. A user whose ACL forbids that gets locks, but can overtake others.
  [[nodiscard]] bool heeds_flag(Time now) const noexcept { return now >= ignores_flag_until_; }
  void ignore_flag(const Tally& refused, Time now) {
    for (NodeIndex node = 0; node < refused.nodes(); ++node) {
      if (refused[node].trouble.status != NodeStatus::no_permission) continue;
      ignores_flag_until_ = later(now, pause_after_refusal);
      return warn("attempts do not heed who stands in line", refused[node].trouble);
    }
  }
  /// The node says again and again that others come first, but nobody keeps the flag up.
  void warn_of_disorder(std::string_view node) {
    if (warning_) return;
    warning_ = std::string{node}.append(
        " lets calls wait for others that are not there, so it does not order waiting lines of this client "
        "for a minute");
  }
  /// Calls wait outside, and try again and again.
  void warn_of_refusal(const Trouble& why) { warn("calls cannot stand in line and poll instead", why); }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// How many locks this client waits for.
  [[nodiscard]] std::size_t waited_for() const noexcept {
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
      return entry.second.line->has_waiters();
    }));
  }
  /// No line of this client is left whose flag it may still have to take down.
  [[nodiscard]] bool all_left() const noexcept {
    return std::all_of(entries_.begin(), entries_.end(),
                       [](const auto& entry) { return entry.second.line->has_left(); });
  }
  /// A message to this client: the order of a line has changed.
  void message(NodeIndex node, std::string_view order_key) {
    if (const auto key = lock_key_of_order(order_key)) with(*key, [&](Line& line) { line.message(node); });
  }
  void key_changed(NodeIndex node, std::string_view key) {
    with(key, [&](Line& line) { line.key_changed(node, 0); });
    with_seat(key, [&](Line& line, std::size_t seat) {
      freed_.add(line.key(), seat);
      line.key_changed(node, seat);
    });
  }
  /// This client has sent a command that writes the key.
  void written(NodeIndex node, std::string_view key) {
    with(key, [&](Line& line) { line.disarmed(node); });
    with_seat(key, [&](Line& line, std::size_t) { line.disarmed(node); });
  }
  /// This client has sent the releases of its lease.
  void released(std::string_view key, bool is_seat) {
    if (!is_seat) return with(key, [&](Line& line) { line.released(0); });
    const std::optional<SeatKey> seat = seat_of(key);
    if (!seat) return;
    freed_.add(seat->line_key, seat->seat);
    with(seat->line_key, [&](Line& line) { line.released(seat->seat); });
  }
  /// One of the connections to this node has changed.
  void unheard(NodeIndex node) {
    for (const auto& [key, entry] : entries_) entry.line->unheard(node);
  }
  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) {
    for (const auto& [key, entry] : entries_) entry.line->disconnected(node, trouble, now, outbox);
  }
  /// A node may be used now, or no longer.
  void node_changed() {
    for (const auto& [key, entry] : entries_) entry.line->touch();
  }

  /// Does what is due.
  void advance(Time now, Outbox& outbox) {
    while (!touched_.empty() || (!due_.empty() && due_.begin()->first <= now)) {
      Ref<Line> line;
      if (!touched_.empty()) {
        line = std::move(touched_.back());
        touched_.pop_back();
        line->untouch();
      } else {
        line = entries_.find(due_.begin()->second)->second.line;
      }
      if (is_listed(*line)) advance(*line, now, outbox);
    }
  }
  /// When `advance` has something to do.
  [[nodiscard]] Time timer() const noexcept {
    if (!touched_.empty()) return Time{};
    return due_.empty() ? never : due_.begin()->first;
  }

  /// A warning for the user. Each reason why a line is refused is given once in a client's life.
  std::optional<std::string> take_warning() noexcept { return std::exchange(warning_, std::nullopt); }

 private:
  /// For how long a client that has left a line joins it directly.
  [[nodiscard]] Span a_look() const noexcept { return context_.times().look_pause; }
  void warn(std::string_view what, const Trouble& why) {
    if (warning_ || !warned_of_.insert(why.status).second) return;
    warning_ = std::string{what}.append(": ").append(printable(why.message)).append(advice_for(why.status));
  }
  [[nodiscard]] static std::string_view advice_for(NodeStatus status) noexcept {
    if (status == NodeStatus::no_permission)
      return "; grant the rights to the keys redlock:q?:* and redlock:q?t:* and the channels redlock:turn:*, "
             "or set order = none";
    if (status == NodeStatus::wrong_type)
      return "; delete the keys redlock:q?:* and redlock:q?t:* that have this lock's name, unless another "
             "program uses them";
    return "";
  }

  struct Entry {
    Ref<Line> line;
    Time due = never;
  };
  template <class Do>
  void with(std::string_view key, const Do& act) {
    if (const auto entry = entries_.find(key); entry != entries_.end()) act(*entry->second.line);
  }
  /// Does something with the line of a semaphore, if the key is one of its seats.
  template <class Do>
  void with_seat(std::string_view key, const Do& act) {
    if (entries_.empty()) return;
    if (const auto seat = seat_of(key)) with(seat->line_key, [&](Line& line) { act(line, seat->seat); });
  }
  [[nodiscard]] bool is_listed(const Line& line) const {
    const auto entry = entries_.find(line.key());
    return entry != entries_.end() && entry->second.line.get() == &line;
  }
  void advance(Line& line, Time now, Outbox& outbox) {
    line.advance(now, outbox);
    const auto entry = entries_.find(line.key());
    Time due = line.timer();
    if (!line.has_waiters() && now >= line.left_at() + a_look()) {
      if (line.has_left()) return erase(entry);
    } else if (!line.has_waiters()) {
      due = line.left_at() + a_look();
    }
    schedule(*entry, due);
  }
  void schedule(std::pair<const std::string, Entry>& entry, Time due) {
    if (entry.second.due == due) return;
    if (entry.second.due != never) due_.erase({entry.second.due, entry.first});
    if (due != never) due_.emplace(due, entry.first);
    entry.second.due = due;
  }
  void erase(std::map<std::string, Entry, std::less<>>::iterator entry) {
    schedule(*entry, never);
    entries_.erase(entry);
  }

  const std::string member_;
  const std::size_t nodes_;
  LineContext& context_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::pair<Time, std::string_view>> due_;  // by key, so that a history can be repeated
  std::vector<Ref<Line>> touched_;                   // lines with events that were not acted on
  FreedSeats freed_;
  Time ignores_flag_until_ = Time::min();
  std::set<NodeStatus> warned_of_;
  std::optional<std::string> warning_;
};

}  // namespace redlock::inline v1::core
