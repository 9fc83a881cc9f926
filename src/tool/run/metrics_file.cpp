#include "tool/run/metrics_file.hpp"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

namespace redlock::tool {

MetricsFile::MetricsFile(std::string path, const std::string& resource, Warn warn, Clock::duration every)
    : path_{std::move(path)}, warn_{std::move(warn)} {
  if (path_.empty()) return;
  counts_ = std::make_shared<Prometheus>(std::map<std::string, std::string>{{"resource", resource}});
  thread_ = std::jthread{[this, every](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any nothing;
    for (std::unique_lock lock{mutex};;) {
      nothing.wait_for(lock, stop, every, [] { return false; });
      if (stop.stop_requested()) return;
      write();
    }
  }};
}

MetricsFile::~MetricsFile() {
  if (!counts_) return;
  thread_.request_stop();
  thread_.join();
  write();
}

void MetricsFile::write() noexcept try { counts_->write(path_); } catch (const std::exception& error) {
  if (!std::exchange(has_warned_, true)) warn_("cannot write the metrics: " + std::string{error.what()});
}

}  // namespace redlock::tool
