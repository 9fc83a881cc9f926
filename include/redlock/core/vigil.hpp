// Whose loss is to be told.
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "redlock/core/approach.hpp"
#include "redlock/core/tenure.hpp"
#include "redlock/core/time.hpp"

namespace redlock::inline v1::core {

/// The leases whose loss somebody wants to hear of: each is told once, at its deadline at the latest. `Kind` is a Tenure.
/// Not thread safe; but it needs not the client's mutex, as the deadlines of tenures may be read without it: so no
/// loss is told late because of what else the client does.
template <class Kind>
class Vigil {
 public:
  /// From now on its loss will be told.
  void add(const std::shared_ptr<Kind>& tenure) {
    if (tenure->is_watched) return;
    const Time deadline = tenure->deadline();  // it may move at any moment
    looks_.emplace(deadline, tenure);
    tenure->next_look = deadline;
    tenure->is_watched = true;
  }
  /// It will not be told any more.
  void remove(const std::shared_ptr<Kind>& tenure) noexcept {
    if (std::exchange(tenure->is_watched, false)) looks_.erase({tenure->next_look, tenure});
  }
  [[nodiscard]] bool watches(const Kind& tenure) const noexcept { return tenure.is_watched; }
  /// It was lost before its deadline: to be told now.
  void lost(const std::shared_ptr<Kind>& tenure) noexcept {
    if (tenure->is_watched) look_at(tenure, Time::min());
  }

  /// When `take_lost` may have something to tell; perhaps too early, never too late.
  [[nodiscard]] Time timer() const noexcept { return looks_.empty() ? never : looks_.begin()->first; }
  /// When to wake up next, so as to be in time for that. Puts off the looks at deadlines that have moved.
  [[nodiscard]] Time wake_up(Time now) noexcept {
    while (timer() <= now + approach_begins && has_moved(*looks_.begin()->second, now)) look_again();
    return approach(timer(), now);
  }
  /// One that is lost and was not told. Null: there is none.
  [[nodiscard]] std::shared_ptr<Kind> take_lost(Time now) noexcept {
    while (timer() <= now) {
      if (has_moved(*looks_.begin()->second, now)) {
        look_again();
        continue;
      }
      std::shared_ptr<Kind> tenure = looks_.begin()->second;
      remove(tenure);
      if (tenure->loss(now) != Loss::none) return tenure;
    }
    return nullptr;
  }

 private:
  static bool has_moved(const Kind& tenure, Time now) noexcept {
    return tenure.in_force(now) && tenure.deadline() > tenure.next_look;
  }
  /// At the first one, at its new deadline.
  void look_again() noexcept {
    const std::shared_ptr<Kind> tenure = looks_.begin()->second;
    look_at(tenure, tenure->deadline());
  }
  void look_at(const std::shared_ptr<Kind>& tenure, Time when) noexcept {
    auto look = looks_.extract({tenure->next_look, tenure});
    look.value().first = tenure->next_look = when;
    looks_.insert(std::move(look));
  }

  std::set<std::pair<Time, std::shared_ptr<Kind>>> looks_;
};

}  // namespace redlock::inline v1::core
