#include "redlock/metrics/prometheus.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "metrics/exposition.hpp"
#include "os/files.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

using detail::Counter;
using detail::Exposition;
using detail::Histogram;
using detail::label;

/// For round trips, in seconds.
constexpr double short_times[] = {0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                  0.05,    0.1,    0.25,  0.5,    1,     2.5};
/// For waits and hold times, in seconds.
constexpr double long_times[] = {0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600};

/// For positions in line.
constexpr double positions[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

constexpr Loss losses[] = {Loss::deadline_passed, Loss::no_quorum, Loss::deleted,
                           Loss::taken,           Loss::max_hold,  Loss::shut_down};

std::string_view name_of(Loss loss) noexcept {
  switch (loss) {
    case Loss::none:
      break;
    case Loss::deadline_passed:
      return "deadline_passed";
    case Loss::no_quorum:
      return "no_quorum";
    case Loss::deleted:
      return "deleted";
    case Loss::taken:
      return "taken";
    case Loss::max_hold:
      return "max_hold";
    case Loss::shut_down:
      return "shut_down";
  }
  return "none";
}

std::string_view name_of(std::optional<Errc> failure) noexcept {
  return failure ? to_string(*failure) : "acquired";
}

std::string name_of(NodeStatus status) {
  std::string name{to_string(status)};
  std::ranges::replace(name, ' ', '_');
  return name;
}

void check(const std::string& name) {
  constexpr std::string_view ours[] = {"kind", "outcome", "end", "reason", "node", "status", "le"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (!name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_allowed) &&
      std::ranges::find(ours, name) == std::end(ours))
    return;
  throw Error{
      Errc::invalid_argument,
      "\"" + core::printable(name) +
          "\" is not allowed as a label name: use letters, digits and _, starting with a letter; kind, "
          "outcome, end, reason, node, status and le are reserved"};
}

std::string label_of(Observer::Kind kind) { return label("kind", to_string(kind)); }

std::string checked(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    check(name);
    text.append(text.empty() ? "" : ",").append(label(name, value));
  }
  return text;
}

}  // namespace

struct Prometheus::Counts {
  explicit Counts(std::string common) : labels{std::move(common)} {
    dropped.add("", 0);
    begin(label_of(Observer::Kind::exclusive));
  }

  /// What alerts look at exists before it happens, for each kind that is in use.
  void begin(const std::string& kind) {
    if (standing.values().contains(kind)) return;
    second_rounds.add(kind, 0);
    standing.add(kind, 0);
    line_refusals.add(kind, 0);
    line_bypasses.add(kind, 0);
    broken.add(kind, 0);
    for (const Loss loss : losses) lost.add(kind + "," + label("reason", name_of(loss)), 0);
  }

  const std::string labels;
  std::mutex mutex;
  // The mutex guards all members below.
  Histogram attempts{short_times};
  Counter second_rounds;
  Histogram waits{long_times};
  Counter standing;
  Histogram line_positions{positions};
  Histogram line_waits{long_times};
  Counter line_refusals;
  Counter line_bypasses;
  Histogram holds{long_times};
  Histogram validity_left{long_times};
  Counter lost;
  Counter broken;
  Histogram extensions{short_times};
  Histogram lateness{short_times};
  Counter ready;
  Counter troubles;
  Counter reconnects;
  Counter certificate_ends;
  Counter own_certificate_ends;
  Counter dropped;
};

Prometheus::Prometheus(const std::map<std::string, std::string>& labels)
    : counts_{std::make_unique<Counts>(checked(labels))} {}
Prometheus::~Prometheus() = default;

std::string Prometheus::text() const {
  const std::lock_guard lock{counts_->mutex};
  Exposition all{counts_->labels};
  all.add("redlock_attempt_duration_seconds", "Duration of attempts to acquire a lock.", counts_->attempts);
  all.add("redlock_second_rounds_total", "Attempts that needed a second round for the fencing token.",
          counts_->second_rounds);
  all.add("redlock_wait_duration_seconds", "Duration of calls that could wait for a lock.", counts_->waits);
  all.add("redlock_line_waiting", "Calls that stand in line.", counts_->standing, "gauge");
  all.add("redlock_line_position", "Position of calls when they entered the line.", counts_->line_positions);
  all.add("redlock_line_duration_seconds", "How long calls stood in line.", counts_->line_waits);
  all.add("redlock_line_refusals_total", "Calls that are not treated in order, for lack of rights.",
          counts_->line_refusals);
  all.add("redlock_line_bypasses_total", "Locks that others got while a call was the first one in line.",
          counts_->line_bypasses);
  all.add("redlock_hold_duration_seconds", "How long ended leases were held.", counts_->holds);
  all.add("redlock_validity_left_seconds", "Time left until the deadline when a lease was released.",
          counts_->validity_left);
  all.add("redlock_losses_total", "Leases that were lost.", counts_->lost);
  all.add("redlock_broken_locks_total", "Calls of break_lock that took a lock from its holder.",
          counts_->broken);
  all.add("redlock_extension_duration_seconds", "Duration of lease extensions.", counts_->extensions);
  all.add("redlock_renewal_lateness_seconds", "How late renewals started.", counts_->lateness);
  all.add("redlock_node_ready", "1 if the node votes, else 0.", counts_->ready, "gauge");
  all.add("redlock_node_troubles_total", "How often a node stopped voting or failed.", counts_->troubles);
  all.add("redlock_node_reconnects_total", "Connections to a node after the first one.", counts_->reconnects);
  all.add("redlock_node_certificate_end_seconds",
          "When the certificate of a node ends, in seconds since 1970.", counts_->certificate_ends, "gauge");
  all.add("redlock_client_certificate_end_seconds",
          "When the certificate of the client for a node ends, in seconds since 1970.",
          counts_->own_certificate_ends, "gauge");
  all.add("redlock_observer_dropped_total", "Events dropped because they came too fast.", counts_->dropped);
  return all.take();
}

void Prometheus::write(const std::string& path) const { detail::replace_file(path, text()); }

void Prometheus::attempted(const Attempt& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string kind = label_of(event.kind);
  counts_->begin(kind);
  counts_->attempts.observe(kind + "," + label("outcome", name_of(event.failure)), event.took);
  counts_->second_rounds.add(kind, event.second_round ? 1 : 0);
}

void Prometheus::waited(const Wait& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string labels = label_of(event.kind) + "," + label("outcome", name_of(event.failure));
  counts_->waits.observe(labels, event.waited);
}

void Prometheus::lined_up(const Line& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string kind = label_of(event.kind);
  counts_->begin(kind);
  const std::uint64_t standing = counts_->standing.values().at(kind);
  switch (event.step) {
    case LineStep::entered:
      counts_->standing.set(kind, standing + 1);
      counts_->line_positions.observe(kind, static_cast<double>(event.position));
      return;
    case LineStep::waiting:
      return;
    case LineStep::bypassed:
      counts_->line_bypasses.add(kind);
      return;
    case LineStep::refused:
      counts_->line_refusals.add(kind);
      return;
    case LineStep::granted:
    case LineStep::left:
      counts_->standing.set(kind,
                            standing - std::min<std::uint64_t>(standing, 1));  // events may have been dropped
      counts_->line_waits.observe(kind + "," + label("outcome", to_string(event.step)), event.waited);
  }
}

void Prometheus::ended(const Hold& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string kind = label_of(event.kind);
  counts_->holds.observe(kind + "," + label("end", to_string(event.release)), event.held);
  if (event.release != Release::already_lost) counts_->validity_left.observe(kind, event.validity_left);
  if (event.loss != Loss::none) counts_->lost.add(kind + "," + label("reason", name_of(event.loss)));
}

void Prometheus::extended(const Extension& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string kind = label_of(event.kind);
  counts_->extensions.observe(kind + "," + label("outcome", to_string(event.state)), event.took);
  if (event.late) counts_->lateness.observe(kind, *event.late);
}

void Prometheus::broken(const Break& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string kind = label_of(event.kind);
  counts_->begin(kind);
  counts_->broken.add(kind);
}

void Prometheus::node_changed(const Node& event) {
  const std::lock_guard lock{counts_->mutex};
  const std::string node = label("node", event.node);
  counts_->ready.set(node, event.state == NodeState::ready ? 1 : 0);
  counts_->reconnects.add(node, event.reconnected ? 1 : 0);
  if (event.trouble) counts_->troubles.add(node + "," + label("status", name_of(*event.trouble)));
}

void Prometheus::certificate_seen(const Certificate& event) {
  const std::lock_guard lock{counts_->mutex};
  const auto end = std::max(event.end.time_since_epoch(), std::chrono::seconds{0});
  Counter& ends = event.is_own ? counts_->own_certificate_ends : counts_->certificate_ends;
  ends.set(label("node", event.node), static_cast<std::uint64_t>(end.count()));
}

void Prometheus::dropped(std::uint64_t events) {
  const std::lock_guard lock{counts_->mutex};
  counts_->dropped.add("", events);
}

}  // namespace v1
}  // namespace redlock
