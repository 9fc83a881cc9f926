// An observer that counts, and prints what it counted for Prometheus.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "redlock/export.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock {
inline namespace v1 {

/// Counts what clients do: `Options::observer`. One may be shared by several clients, whose numbers are added. Prints
/// Prometheus' text format, version 0.0.4.
///
/// | metric                               | type      | labels       | what                                               |
/// |--------------------------------------|-----------|--------------|----------------------------------------------------|
/// | redlock_attempt_duration_seconds     | histogram | outcome      | attempts: acquired, held, no_quorum, …             |
/// | redlock_second_rounds_total          | counter   |              | attempts with a second round for the fencing token |
/// | redlock_wait_duration_seconds        | histogram | outcome      | calls that were ready to wait, to their end        |
/// | redlock_hold_duration_seconds        | histogram | end          | leases: released, already_lost, unknown            |
/// | redlock_validity_left_seconds        | histogram |              | what was left when a lease was released in time    |
/// | redlock_losses_total                 | counter   | reason       | leases that were lost                              |
/// | redlock_extension_duration_seconds   | histogram | outcome      | extensions: held, in_doubt, lost                   |
/// | redlock_renewal_lateness_seconds     | histogram |              | how long after it was due a renewal began          |
/// | redlock_node_ready                   | gauge     | node         | 1: the node votes; 0: it does not                  |
/// | redlock_node_troubles_total          | counter   | node, status | how often it ceased to vote, or failed otherwise   |
/// | redlock_node_reconnects_total        | counter   | node         | connections after the first                        |
/// | redlock_observer_dropped_total       | counter   |              | events that came too fast to be counted            |
///
/// There is no label for the resource: every name would add dozens of lines for ever. Labels of one's own tell apart the
/// few that matter, by an observer for each.
///
/// Threads: every call from any thread at any time.
class REDLOCK_EXPORT Prometheus final : public Observer {
 public:
  /// `labels`: stand in every line. A name has letters, digits and `_`, begins with a letter, and is none of those above
  /// nor `le`; anything else throws `Error` (misconfigured). A value may be any bytes; what is not UTF-8 is replaced.
  explicit Prometheus(const std::map<std::string, std::string>& labels = {});
  ~Prometheus() override;

  /// What was counted so far. The answer to a scrape, as `text/plain; version=0.0.4`.
  [[nodiscard]] std::string text() const;
  /// Replaces the file by `text()`, so that nobody ever reads half of it: for node_exporter's textfile collector, which
  /// reads all files of a folder whose names end in `.prom`. Writes to a file beside it first. Throws std::system_error.
  void write(const std::string& path) const;

  void attempted(const Attempt&) override;
  void waited(const Wait&) override;
  void ended(const Hold&) override;
  void extended(const Extension&) override;
  void node_changed(const Node&) override;
  void dropped(std::uint64_t events) override;

 private:
  struct Counts;
  const std::unique_ptr<Counts> counts_;
};

}  // namespace v1
}  // namespace redlock
