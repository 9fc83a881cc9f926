// What the observer hears of a call that stands in line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// One call's stays in line, one after the other. A stay is reported from the time at which its place is known.
class StayInLine {
 public:
  using Step = Observer::LineStep;

  explicit StayInLine(Observer::Kind kind = Observer::Kind::exclusive) noexcept : kind_{kind} {}

  void begin(Time now) noexcept { begun_ = now; }
  void placed(const std::string& key, std::size_t position, std::size_t length, Time now,
              Observer* observer) {
    if (position > 1) last_holder_.reset();
    if (is_reported_ && now - told_at_ < pause) return;
    const Step step = std::exchange(is_reported_, true) ? Step::waiting : Step::entered;
    told_at_ = now;
    tell({.resource = key,
          .kind = kind_,
          .step = step,
          .position = position,
          .length = length,
          .waited = now - begun_},
         observer);
  }
  /// An attempt was denied by this holder. While the call is the first one in line, nobody else should become the holder. A
  /// lock that is kept after its release has none, and readers come and go.
  void denied_by(const std::string& key, const std::string& holder, Time now, Observer* observer) {
    if (!is_of_one_holder(holder)) return;
    if (last_holder_ && *last_holder_ != holder)
      tell({.resource = key, .kind = kind_, .step = Step::bypassed, .waited = now - begun_}, observer);
    last_holder_ = holder;
  }
  void end(const std::string& key, Step how, Time now, Observer* observer) {
    last_holder_.reset();
    if (std::exchange(is_reported_, false))
      tell({.resource = key, .kind = kind_, .step = how, .waited = now - begun_}, observer);
  }
  /// The call is not treated in order, whether it stands in line or not.
  void refused(const std::string& key, Time now, Observer* observer) {
    end(key, Step::left, now, observer);
    tell({.resource = key, .kind = kind_, .step = Step::refused}, observer);
  }

 private:
  static constexpr Span pause = std::chrono::seconds{1};  // between two reports of the place

  static void tell(const Observer::Line& event, Observer* observer) {
    if (observer) observer->lined_up(event);
  }

  Observer::Kind kind_;
  Time begun_{};
  Time told_at_{};
  bool is_reported_ = false;
  std::optional<std::string> last_holder_;  // that an attempt met, since the call is the first one in line
};

}  // namespace redlock::inline v1::core
