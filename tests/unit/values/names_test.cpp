// Every enumerator of the public interface as text.
#include <sstream>
#include <string>

#include "redlock/endpoint.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/metrics/observer.hpp"
#include "redlock/options.hpp"
#include "redlock/status.hpp"
#include "redlock/testing/fake_locks.hpp"
#include "support/catch.hpp"

namespace {

template <class Value>
std::string written(Value value) {
  std::ostringstream text;
  text << value;
#ifdef __cpp_lib_format
  CHECK(std::format("{}|{:>30}", value, value).ends_with(text.str()));
  CHECK(std::format("{}", value) == text.str());
#endif
  CHECK(text.str() == to_string(value));
  return text.str();
}

}  // namespace

TEST_CASE("enumerators_are_written_as_their_names") {
  CHECK(written(redlock::Errc::no_quorum) == "no_quorum");
  CHECK(written(redlock::Errc::invalid_argument) == "invalid_argument");
  CHECK(written(redlock::Release::already_lost) == "already_lost");
  CHECK(written(redlock::State::in_doubt) == "in_doubt");
  CHECK(written(redlock::SequencerState::stale) == "stale");
  CHECK(written(redlock::Loss::max_hold) == "max_hold was reached");
  CHECK(written(redlock::NodeStatus::timed_out) == "timed out");
  CHECK(written(redlock::Observer::Kind::exclusive) == "exclusive");
  CHECK(written(redlock::Observer::Kind::seat) == "seat");
  CHECK(written(redlock::Observer::Kind::leader) == "leader");
  CHECK(written(redlock::Observer::Kind::shared) == "shared");
  CHECK(written(redlock::Observer::NodeState::barred) == "barred");
  CHECK(written(redlock::Observer::LineStep::entered) == "entered");
  CHECK(written(redlock::Observer::LineStep::refused) == "refused");
  CHECK(written(redlock::RestartGuard::automatic) == "automatic");
  CHECK(written(redlock::RestartGuard::strict) == "strict");
  CHECK(written(redlock::RestartGuard::off) == "off");
  CHECK(written(redlock::Renewal::automatic) == "automatic");
  CHECK(written(redlock::Renewal::none) == "none");
  CHECK(written(redlock::Order::fifo) == "fifo");
  CHECK(written(redlock::Order::none) == "none");
  CHECK(written(redlock::FakeNodeState::working) == "working");
  CHECK(written(redlock::FakeNodeState::refusing) == "refusing");
  CHECK(written(redlock::FakeNodeState::hanging) == "hanging");
  CHECK(written(redlock::Endpoint::Transport::tcp) == "tcp");
  CHECK(written(redlock::Endpoint::Transport::tls) == "tls");
  CHECK(written(redlock::TlsVersion::tls_1_2) == "1.2");
  CHECK(written(redlock::TlsVersion::tls_1_3) == "1.3");
  CHECK(written(redlock::Endpoint::Transport::unix_socket) == "unix_socket");
}

TEST_CASE("a_fencing_token_is_written_as_its_number") {
  std::ostringstream text;
  text << redlock::FencingToken{9'007'199'254'740'990};
  CHECK(text.str() == "9007199254740990");
}
