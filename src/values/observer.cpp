#include "redlock/metrics/observer.hpp"

#include <ostream>

namespace redlock {
inline namespace v1 {

Observer::~Observer() = default;

std::string_view to_string(Observer::Kind kind) noexcept {
  switch (kind) {
    case Observer::Kind::exclusive:
      return "exclusive";
    case Observer::Kind::seat:
      return "seat";
    case Observer::Kind::leader:
      return "leader";
    case Observer::Kind::shared:
      return "shared";
  }
  return "unknown kind";
}

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

std::string_view to_string(Observer::LineStep step) noexcept {
  switch (step) {
    case Observer::LineStep::entered:
      return "entered";
    case Observer::LineStep::waiting:
      return "waiting";
    case Observer::LineStep::granted:
      return "granted";
    case Observer::LineStep::left:
      return "left";
    case Observer::LineStep::bypassed:
      return "bypassed";
    case Observer::LineStep::refused:
      return "refused";
  }
  return "unknown step";
}

std::ostream& operator<<(std::ostream& out, Observer::Kind value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Observer::NodeState value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Observer::LineStep value) { return out << to_string(value); }

}  // namespace v1
}  // namespace redlock
