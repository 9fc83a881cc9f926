// An observer that produces metrics for Prometheus.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "redlock/export.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock {
inline namespace v1 {

/// Counts the events of clients (set it in `Options::observer`) and writes them in Prometheus' text format,
/// version 0.0.4. Several clients may share one object; their numbers are then added up.
///
/// | metric                               | type      | labels        | meaning                                            |
/// |--------------------------------------|-----------|---------------|----------------------------------------------------|
/// | redlock_attempt_duration_seconds     | histogram | kind, outcome | duration of attempts: acquired, held, no_quorum, … |
/// | redlock_second_rounds_total          | counter   | kind          | attempts with a second round for the fencing token |
/// | redlock_wait_duration_seconds        | histogram | kind, outcome | duration of calls that could wait for a lock       |
/// | redlock_line_waiting                 | gauge     | kind          | calls that stand in line                           |
/// | redlock_line_position                | histogram | kind          | position of calls when they entered the line       |
/// | redlock_line_duration_seconds        | histogram | kind, outcome | how long they stood there: granted, left           |
/// | redlock_line_bypasses_total          | counter   | kind          | locks that others got before the first one in line |
/// | redlock_line_refusals_total          | counter   | kind          | calls not treated in order, for lack of rights     |
/// | redlock_hold_duration_seconds        | histogram | kind, end     | hold times: released, already_lost, unknown        |
/// | redlock_validity_left_seconds        | histogram | kind          | validity left when a lease was released in time    |
/// | redlock_losses_total                 | counter   | kind, reason  | leases that were lost                              |
/// | redlock_broken_locks_total           | counter   | kind          | calls of `break_lock` that took a lock             |
/// | redlock_extension_duration_seconds   | histogram | kind, outcome | duration of extensions: held, in_doubt, lost       |
/// | redlock_renewal_lateness_seconds     | histogram | kind          | how late renewals started                          |
/// | redlock_node_ready                   | gauge     | node          | 1 if the node votes, else 0                        |
/// | redlock_node_troubles_total          | counter   | node, status  | how often the node stopped voting or failed        |
/// | redlock_node_reconnects_total        | counter   | node          | connections after the first                        |
/// | redlock_node_certificate_end_seconds | gauge     | node          | when the node's certificate ends, since 1970       |
/// | redlock_client_certificate_end_seconds | gauge   | node          | the same for the client's own, shown to the node   |
/// | redlock_observer_dropped_total       | counter   |               | events dropped because they came too fast          |
///
/// `kind` is that of `Observer::Kind`. Of a broken lock it is what others can see, so never `leader` (`Observer::Break`). The
/// lines of a kind appear with its first event.
///
/// There is no label for the resource, because each name would add dozens of lines that never go away. To
/// tell apart a few resources that matter, use one object for each, with labels of your own.
///
/// Threads: any thread may make any call at any time.
class REDLOCK_EXPORT Prometheus final : public Observer {
 public:
  /// `labels` are added to every line. A label name consists of letters, digits and `_`, starts with a
  /// letter, and is neither `le` nor one of the labels above; any other name throws `Error` (invalid_argument).
  /// A value may contain any bytes. Those that are not UTF-8 or not printable, except line feeds, are replaced.
  explicit Prometheus(const std::map<std::string, std::string>& labels = {});
  ~Prometheus() override;

  /// Returns the metrics. Suitable as the answer to a scrape, with the content type `text/plain;
  /// version=0.0.4`.
  [[nodiscard]] std::string text() const;
  /// Replaces the file with `text()` atomically: writes a file in the same folder and renames it. For
  /// node_exporter's textfile collector, which reads all files of a folder whose names end in `.prom`. Throws
  /// `std::system_error`.
  void write(const std::string& path) const;

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
  struct REDLOCK_INTERNAL Counts;
  const std::unique_ptr<Counts> counts_;
};

}  // namespace v1
}  // namespace redlock
