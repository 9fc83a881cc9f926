// Servers that are not Redis, or malicious.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/support/fake_server.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;

struct InvalidAnswer {
  std::string answer;
  std::string words;
};

}  // namespace

TEST_CASE("an_answer_that_is_not_valid_resp_is_a_protocol_error") {
  const auto [answer, words] = GENERATE(
      InvalidAnswer{"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "Protocol error"},
      InvalidAnswer{"SSH-2.0-OpenSSH_9.2\r\n", "Protocol error"},
      InvalidAnswer{"\0\0\0\0"s, "Protocol error"},
      InvalidAnswer{"\x15\x03\x01\0\x02\x02\x50"s, "the server speaks TLS at this port"},
      InvalidAnswer{"*1000000000\r\n", ""}, InvalidAnswer{"*5000\r\n", ""}, InvalidAnswer{"$-2\r\n", ""},
      InvalidAnswer{":12x\r\n", ""}, InvalidAnswer{"+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n", ""},
      InvalidAnswer{":1\r\n", "the reply is not"}, InvalidAnswer{"$-1\r\n", "the reply is not"},
      InvalidAnswer{"*0\r\n", "the reply is not"}, InvalidAnswer{"*-1\r\n", "the reply is not"},
      InvalidAnswer{std::string(2000, '*') + "\r\n", ""});
  CAPTURE(answer);
  const FakeServer fake{answer};
  SingleNodeLock locks{fake.url()};
  check_refused(locks, Errc::no_quorum, NodeStatus::protocol_error, words);
}

TEST_CASE("an_oversized_answer_is_a_protocol_error") {
  std::string nested;
  for (int i = 0; i < 2000; ++i) nested += "*1\r\n";
  const std::string much(1'500'000, 'x');
  const auto [answer, words] = GENERATE_COPY(
      InvalidAnswer{"$2000000000\r\n" + much, "the reply is larger than 64 KiB"},
      InvalidAnswer{"+" + much, "the reply is larger than 64 KiB"},
      InvalidAnswer{"-ERR " + much, "the reply is larger than 64 KiB"}, InvalidAnswer{nested, ""});
  const FakeServer fake{answer};
  SingleNodeLock locks{fake.url(), {.connect_timeout = 20s}};
  check_refused(locks, Errc::no_quorum, NodeStatus::protocol_error, words);
}

TEST_CASE("a_long_error_is_reported_with_its_first_4_kib") {
  const FakeServer fake{"-ERR " + std::string(60'000, 'x') + "\r\n"};
  SingleNodeLock locks{fake.url(), {.connect_timeout = 20s}};
  check_refused(locks, Errc::no_quorum, NodeStatus::server_error, "ERR xxx");
  CHECK(locks.inspect("r").at(0).message.size() == 4096);
}

TEST_CASE("an_answer_that_only_announces_its_size_times_out_like_any_other") {
  const FakeServer fake{"$2000000000\r\n"};
  SingleNodeLock locks{fake.url(), {.connect_timeout = 100ms}};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "no connection within the connect timeout");
}

TEST_CASE("a_server_that_is_not_redis_among_the_nodes_does_not_prevent_locking") {
  const FakeServer fake{"-ERR unknown command\r\n:1\r\n+OK\r\n"};
  LocalNodes nodes{2};
  Redlock locks{{nodes.url(0), fake.url(), nodes.url(1)}, {.restart_guard = redlock::RestartGuard::off}};
  for (int i = 0; i < 10; ++i) {
    auto lease = locks.try_lock("r");
    REQUIRE(lease);
    CHECK(lease->extend());
    CHECK(lease->release() == Release::released);
  }
}
