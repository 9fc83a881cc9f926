#include "redlock/lock_result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::Errc;
using redlock::Error;
using redlock::Holder;
using redlock::LockResult;
using redlock::NodeReport;
using redlock::NodeStatus;

NodeReport held_by(const std::string& owner, std::optional<std::chrono::milliseconds> ttl = {}) {
  return NodeReport{
      .node = "redis://a:1", .status = NodeStatus::held, .message = {}, .owner = owner, .ttl = ttl};
}
const NodeReport silent{
    .node = "redis://b:1", .status = NodeStatus::timed_out, .message = {}, .owner = {}, .ttl = {}};

std::optional<Holder> holder_in(std::vector<NodeReport> nodes) {
  return LockResult{Errc::held, {}, std::move(nodes)}.holder();
}

}  // namespace

TEST_CASE("only_a_named_result_says_whether_it_has_a_lease") {
  STATIC_REQUIRE(std::is_constructible_v<bool, LockResult&>);
  STATIC_REQUIRE(std::is_constructible_v<bool, const LockResult&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<bool, LockResult>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<bool, const LockResult>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<LockResult&, bool>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<LockResult, redlock::Lease>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<LockResult>);
}

TEST_CASE("a_result_with_a_lease_has_neither_a_code_nor_a_message") {
  LockResult result{redlock::Lease{}};
  CHECK(result);
  CHECK(result.has_value());
  CHECK_FALSE(result.code());
  CHECK(result.message().empty());
  CHECK(result.nodes().empty());
  CHECK_FALSE(result.holder());
  CHECK(result->resource().empty());
  CHECK(&*result == &result.value());
  CHECK_FALSE((*std::move(result)).valid());
}

TEST_CASE("a_result_without_a_lease_says_why_and_throws_it") {
  const LockResult result{Errc::no_quorum, "1 of 3 nodes voted", {silent}};
  CHECK_FALSE(result);
  CHECK(result.code() == Errc::no_quorum);
  CHECK(result.message() == "no quorum: 1 of 3 nodes voted\n  redis://b:1: timed out");
  REQUIRE(result.nodes().size() == 1);
  CHECK_THROWS_WITH(result.value(), result.message());
  CHECK_THROWS_AS(*result, Error);
  CHECK_THROWS_AS(result->valid(), Error);
}

namespace {

Holder a_for(std::optional<std::chrono::nanoseconds> ttl = std::nullopt) {
  Holder holder{"a"};
  holder.ttl = ttl;
  return holder;
}

}  // namespace

TEST_CASE("the_holder_is_whom_at_least_half_of_the_nodes_report") {
  CHECK_FALSE(holder_in({}));
  CHECK_FALSE(holder_in({silent, silent, silent}));
  CHECK(holder_in({held_by("a"), held_by("a"), silent}) == a_for());
  CHECK(holder_in({held_by("b"), held_by("a"), held_by("a")}) == a_for());
  CHECK(holder_in({held_by("a"), held_by("a"), silent, silent}) == a_for());
  CHECK_FALSE(holder_in({held_by("a"), silent, silent}));
  CHECK_FALSE(holder_in({held_by(""), held_by(""), held_by("")}));
  CHECK_FALSE(holder_in({held_by("a"), held_by("b"), silent}));
  CHECK_FALSE(holder_in({held_by("a"), held_by("b"), held_by("c")}));
}

TEST_CASE("the_ttl_of_a_holder_is_the_greatest_that_its_nodes_report") {
  CHECK(holder_in({held_by("a", 5s), held_by("a", 7s), held_by("b", 9s)}) == a_for(7s));
  CHECK(holder_in({held_by("a"), held_by("a", 0ms), silent}) == a_for(0ms));
}
