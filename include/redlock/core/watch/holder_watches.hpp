// All watches of one client.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/watch/holder_watch.hpp"
#include "redlock/core/watch/listeners.hpp"
#include "redlock/core/watch/watcher.hpp"

namespace redlock::inline v1::core {

/// All watches of one client. They are few: each event looks at all of them.
class HolderWatches final : Watcher {
 public:
  HolderWatches(Listeners& listeners, std::uint64_t seed) : listeners_{listeners}, random_{seed} {
    listeners.add(*this);
  }
  HolderWatches(const HolderWatches&) = delete;
  HolderWatches& operator=(const HolderWatches&) = delete;

  void add(const Ref<HolderWatch>& watch) {
    all_.push_back(watch);
    listeners_.begin_watch(keys_of_watch);
  }
  /// Does nothing for a watch that was removed before.
  void remove(const HolderWatch* watch) {
    const auto place = std::find_if(all_.begin(), all_.end(),
                                    [&](const Ref<HolderWatch>& each) { return each.get() == watch; });
    if (place == all_.end()) return;
    all_.erase(place);
    listeners_.end_watch(keys_of_watch);
  }

  /// This client has sent a command that writes the key, which disarms it.
  void written(NodeIndex node, std::string_view key) {
    for (const Ref<HolderWatch>& watch : all_)
      if (watch->reads(key)) watch->written(node);
  }
  [[nodiscard]] Time timer() const noexcept {
    Time first = never;
    for (const Ref<HolderWatch>& watch : all_) first = std::min(first, watch->timer(listeners_));
    return first;
  }
  /// A watch is about to read what has changed.
  [[nodiscard]] bool let_settle() const noexcept {
    return std::ranges::any_of(all_, [](const Ref<HolderWatch>& watch) { return watch->lets_settle(); });
  }
  /// Call only after reading every readable connection.
  void on_time(Time now, Outbox& outbox) {
    if (now < timer()) return;
    listeners_.wake(now);
    for (const Ref<HolderWatch>& watch : all_) watch->advance(listeners_, random_, now, outbox);
  }

 private:
  void key_changed(NodeIndex node, std::string_view key, Time now) override {
    for (const Ref<HolderWatch>& watch : all_)
      if (watch->reads(key)) watch->reported(node, now);
  }
  void all_keys_changed(NodeIndex node, Time) override {
    for (const Ref<HolderWatch>& watch : all_) watch->changed(node);
  }
  void disconnected(NodeIndex node) override {
    for (const Ref<HolderWatch>& watch : all_) watch->disconnected(node);
  }

  static constexpr std::size_t keys_of_watch = 2;  // the lock and its counter

  Listeners& listeners_;
  std::uint64_t random_;
  std::vector<Ref<HolderWatch>> all_;
};

}  // namespace redlock::inline v1::core
