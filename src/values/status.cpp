#include "redlock/status.hpp"

#include <ostream>
#include <string>

#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {
namespace {

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "redlock"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
        return "held: somebody else has the lock or stands in line, or at_least keeps it";
      case Errc::timed_out:
        return "timed out: the lock was still held when the wait ended";
      case Errc::no_quorum:
        return "no quorum: too few nodes voted";
      case Errc::too_slow:
        return "too slow: a majority granted the lock, but its validity was already used up";
      case Errc::lost:
        return "lost: the lease is gone";
      case Errc::cancelled:
        return "cancelled: a stop was requested or the client was shut down";
      case Errc::misconfigured:
        return "misconfigured: too many servers are set up so that they can never vote";
      case Errc::invalid_argument:
        return "invalid argument: an argument, an option or a use is not allowed";
    }
    return "unknown redlock error " + std::to_string(value);
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
        return std::errc::device_or_resource_busy;
      case Errc::timed_out:
        return std::errc::timed_out;
      case Errc::cancelled:
        return std::errc::operation_canceled;
      case Errc::invalid_argument:
        return std::errc::invalid_argument;
      case Errc::misconfigured:
      case Errc::no_quorum:
      case Errc::too_slow:
      case Errc::lost:
        break;  // std::errc has no equivalent
    }
    return {value, *this};
  }
};

// Not a local variable, which the first caller initialises: if another thread is doing so at the moment of a fork(), a
// child that gets an error waits for that thread for ever.
constinit const Category instance;

}  // namespace

const std::error_category& category() noexcept { return instance; }

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), category()}; }

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::held:
      return "held";
    case Errc::timed_out:
      return "timed_out";
    case Errc::no_quorum:
      return "no_quorum";
    case Errc::too_slow:
      return "too_slow";
    case Errc::lost:
      return "lost";
    case Errc::cancelled:
      return "cancelled";
    case Errc::misconfigured:
      return "misconfigured";
    case Errc::invalid_argument:
      return "invalid_argument";
  }
  return "unknown";
}

std::string_view to_string(SequencerState state) noexcept {
  switch (state) {
    case SequencerState::valid:
      return "valid";
    case SequencerState::stale:
      return "stale";
    case SequencerState::unknown:
      return "unknown";
  }
  return "unknown state";
}

std::string_view to_string(Release release) noexcept {
  switch (release) {
    case Release::released:
      return "released";
    case Release::already_lost:
      return "already_lost";
    case Release::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(State state) noexcept {
  switch (state) {
    case State::held:
      return "held";
    case State::in_doubt:
      return "in_doubt";
    case State::lost:
      return "lost";
    case State::released:
      return "released";
  }
  return "unknown";
}

std::string_view to_string(Loss loss) noexcept {
  switch (loss) {
    case Loss::none:
      return "not lost";
    case Loss::deadline_passed:
      return "the deadline passed";
    case Loss::no_quorum:
      return "too few nodes answered before the deadline";
    case Loss::deleted:
      return "a majority of the nodes no longer holds the lock";
    case Loss::taken:
      return "somebody else has taken the lock";
    case Loss::max_hold:
      return "max_hold was reached";
    case Loss::shut_down:
      return "the client was shut down";
  }
  return "unknown loss";
}

std::string_view to_string(NodeStatus status) noexcept {
  switch (status) {
    case NodeStatus::granted:
      return "granted";
    case NodeStatus::held:
      return "held";
    case NodeStatus::free:
      return "free";
    case NodeStatus::timed_out:
      return "timed out";
    case NodeStatus::unreachable:
      return "unreachable";
    case NodeStatus::connection_lost:
      return "connection lost";
    case NodeStatus::not_awaited:
      return "not awaited";
    case NodeStatus::overloaded:
      return "overloaded";
    case NodeStatus::loading:
      return "loading";
    case NodeStatus::busy:
      return "busy";
    case NodeStatus::out_of_memory:
      return "out of memory";
    case NodeStatus::not_persisting:
      return "not persisting";
    case NodeStatus::server_error:
      return "server error";
    case NodeStatus::protocol_error:
      return "protocol error";
    case NodeStatus::auth_required:
      return "auth required";
    case NodeStatus::wrong_password:
      return "wrong password";
    case NodeStatus::no_permission:
      return "no permission";
    case NodeStatus::read_only:
      return "read only";
    case NodeStatus::replica:
      return "replica";
    case NodeStatus::wrong_type:
      return "wrong type";
    case NodeStatus::put_back:
      return "put back";
    case NodeStatus::bad_counter:
      return "bad counter";
    case NodeStatus::same_node:
      return "same node";
    case NodeStatus::quarantined:
      return "quarantined";
    case NodeStatus::other_deployment:
      return "other deployment";
    case NodeStatus::ttl_too_long:
      return "ttl too long";
    case NodeStatus::tls_failed:
      return "tls failed";
  }
  return "unknown status";
}

std::string_view to_string(RestartGuard guard) noexcept {
  switch (guard) {
    case RestartGuard::automatic:
      return "automatic";
    case RestartGuard::strict:
      return "strict";
    case RestartGuard::off:
      return "off";
  }
  return "unknown";
}

std::string_view to_string(Renewal renewal) noexcept {
  switch (renewal) {
    case Renewal::automatic:
      return "automatic";
    case Renewal::none:
      return "none";
  }
  return "unknown";
}

std::string_view to_string(Order order) noexcept {
  switch (order) {
    case Order::fifo:
      return "fifo";
    case Order::none:
      return "none";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Errc value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Release value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, SequencerState value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, State value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Loss value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, NodeStatus value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, RestartGuard value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Renewal value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Order value) { return out << to_string(value); }

bool is_misconfiguration(NodeStatus status) noexcept {
  switch (status) {
    case NodeStatus::auth_required:
    case NodeStatus::wrong_password:
    case NodeStatus::no_permission:
    case NodeStatus::read_only:
    case NodeStatus::replica:
    case NodeStatus::wrong_type:
    case NodeStatus::bad_counter:
    case NodeStatus::same_node:
    case NodeStatus::other_deployment:
    case NodeStatus::ttl_too_long:
    case NodeStatus::tls_failed:
      return true;
    default:
      return false;
  }
}

}  // namespace v1
}  // namespace redlock
