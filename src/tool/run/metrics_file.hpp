// A file with what a run counts.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "redlock/clock.hpp"
#include "redlock/metrics/prometheus.hpp"

namespace redlock::tool {

/// Keeps a file for Prometheus up to date: writes it every so often, and when it goes, which is to be after the client. That
/// it cannot be written is told once, and stops nothing.
class MetricsFile {
 public:
  using Warn = std::function<void(std::string_view)>;

  /// `path`: empty for no file. Every line has the resource as a label: so the files of several locks can lie in one folder.
  MetricsFile(std::string path, const std::string& resource, Warn,
              Clock::duration every = std::chrono::seconds{15});
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// Null: there is no file.
  [[nodiscard]] std::shared_ptr<Observer> observer() const noexcept { return counts_; }

 private:
  void write() noexcept;

  const std::string path_;
  const Warn warn_;
  bool has_warned_ = false;  // of the thread, and then of the destructor
  std::shared_ptr<Prometheus> counts_;
  std::jthread thread_;
};

}  // namespace redlock::tool
