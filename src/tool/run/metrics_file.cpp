#include "tool/run/metrics_file.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

namespace redlock::tool {

/// Passes all events on to `Prometheus`, the end of the lease with the reason of its loss.
class MetricsFile::Counter : public Observer {
 public:
  explicit Counter(std::shared_ptr<Prometheus> counts) : counts_{std::move(counts)} {}
  void count_as_lost(Loss reason) noexcept { loss_ = reason; }

  void attempted(const Attempt& event) override { counts_->attempted(event); }
  void waited(const Wait& event) override { counts_->waited(event); }
  void lined_up(const Line& event) override { counts_->lined_up(event); }
  void ended(const Hold& event) override {
    Hold hold = event;
    if (hold.loss == Loss::none && loss_ != Loss::none) {
      hold.loss = loss_;
      hold.release = Release::already_lost;
    }
    counts_->ended(hold);
  }
  void extended(const Extension& event) override { counts_->extended(event); }
  void broken(const Break& event) override { counts_->broken(event); }
  void node_changed(const Node& event) override { counts_->node_changed(event); }
  void certificate_seen(const Certificate& event) override { counts_->certificate_seen(event); }
  void dropped(std::uint64_t events) override { counts_->dropped(events); }

 private:
  const std::shared_ptr<Prometheus> counts_;
  std::atomic<Loss> loss_{Loss::none};
};

MetricsFile::MetricsFile(std::string path, const std::string& resource, Warn warn, Clock::duration every)
    : path_{std::move(path)}, warn_{std::move(warn)} {
  if (path_.empty()) return;
  counts_ = std::make_shared<Prometheus>(std::map<std::string, std::string>{{"resource", resource}});
  observer_ = std::make_shared<Counter>(counts_);
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

std::shared_ptr<Observer> MetricsFile::observer() const noexcept { return observer_; }

void MetricsFile::count_as_lost(Loss reason) noexcept {
  if (observer_) observer_->count_as_lost(reason);
}

void MetricsFile::write() noexcept try { counts_->write(path_); } catch (const std::exception& error) {
  if (!std::exchange(has_warned_, true)) warn_("cannot write the metrics: " + std::string{error.what()});
}

}  // namespace redlock::tool
