// Tests of code that uses redlock. Each test has its own real servers, which it can kill and pause.
#include "invoicing.hpp"

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else  // version 2
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <redlock/testing/local_nodes.hpp>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace {

/// Two instances of the service that share three servers.
struct Services {
  redlock::testing::LocalNodes nodes{3};
  redlock::Redlock locks_here{nodes.urls()};
  redlock::Redlock locks_there{nodes.urls()};
  std::vector<int> paid;
};

}  // namespace

TEST_CASE("an invoice that is being paid is not paid a second time") {
  Services all;
  Invoicing there{all.locks_there, [&](int number) { all.paid.push_back(number); }};
  Invoicing here{all.locks_here, [&](int number) {
                   all.paid.push_back(number);
                   CHECK_FALSE(there.settle(number));
                 }};
  CHECK(here.settle(42));
  CHECK(all.paid == std::vector{42});
}

TEST_CASE("another instance can pay an invoice whose payment failed") {
  Services all;
  Invoicing here{all.locks_here, [](int) { throw std::runtime_error{"the bank does not answer"}; }};
  Invoicing there{all.locks_there, [&](int number) { all.paid.push_back(number); }};
  CHECK_THROWS_AS(here.settle(42), std::runtime_error);
  CHECK(there.settle(42));
  CHECK(all.paid == std::vector{42});
}

TEST_CASE("one dead server of three does not stop payments, but two do") {
  Services all;
  Invoicing here{all.locks_here, [&](int number) { all.paid.push_back(number); }};
  CHECK(here.settle(41));  // marks the new servers; until then, all of them must be reachable
  all.nodes.kill(0);
  CHECK(here.settle(42));

  all.nodes.pause(1);
  try {
    here.settle(43);
    FAIL("paid without a lock");
  } catch (const redlock::Error& error) {
    CHECK(error.code() == redlock::Errc::no_quorum);
  }
  CHECK(all.paid == std::vector{41, 42});
}
