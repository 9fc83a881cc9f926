#include "redlock/metrics/observer.hpp"

#include <ostream>

namespace redlock {
inline namespace v1 {

Observer::~Observer() = default;

std::string_view to_string(Observer::NodeState state) noexcept {
  switch (state) {
    case Observer::NodeState::connecting:
      return "connecting";
    case Observer::NodeState::ready:
      return "ready";
    case Observer::NodeState::barred:
      return "barred";
    case Observer::NodeState::down:
      return "down";
  }
  return "unknown state";
}

std::ostream& operator<<(std::ostream& out, Observer::NodeState value) { return out << to_string(value); }

}  // namespace v1
}  // namespace redlock
