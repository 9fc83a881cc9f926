// Writes the metrics of a run to a file.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "redlock/clock.hpp"
#include "redlock/metrics/prometheus.hpp"
#include "redlock/status.hpp"

namespace redlock::tool {

/// Keeps a metrics file for Prometheus up to date: writes it at regular intervals and in the destructor.
/// Destroy it after the client, so that it contains all events. A failure to write is reported once, as a
/// warning, and has no other effect.
class MetricsFile {
 public:
  using Warn = std::function<void(std::string_view)>;

  /// `path`: an empty path means no file. Every line has the resource as a label, so files of several locks
  /// can be in the same folder.
  MetricsFile(std::string path, const std::string& resource, Warn,
              Clock::duration every = std::chrono::seconds{15});
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// Returns null if there is no file.
  [[nodiscard]] std::shared_ptr<Observer> observer() const noexcept;
  /// Counts the lease as lost for this reason, although it is about to be released in time. Call this before
  /// its release, if the command was terminated before the deadline. Has no effect if the lease was lost by
  /// itself, or without a file.
  void count_as_lost(Loss reason) noexcept;

 private:
  void write() noexcept;

  const std::string path_;
  const Warn warn_;
  bool has_warned_ = false;  // used by the thread, and after it by the destructor
  class Counter;
  std::shared_ptr<Prometheus> counts_;
  std::shared_ptr<Counter> observer_;
  std::jthread thread_;
};

}  // namespace redlock::tool
