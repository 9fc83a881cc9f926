#include "redlock/error.hpp"

#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace {

using redlock::Errc;
using redlock::Error;
using redlock::NodeReport;
using redlock::NodeStatus;

const std::vector<Errc> all_codes{Errc::held, Errc::timed_out, Errc::no_quorum,     Errc::too_slow,
                                  Errc::lost, Errc::cancelled, Errc::misconfigured, Errc::invalid_argument};

NodeReport report(const std::string& node, NodeStatus status, const std::string& message = {}) {
  NodeReport made;
  made.node = node;
  made.status = status;
  made.message = message;
  return made;
}

}  // namespace

TEST_CASE("every_code_belongs_to_the_category_and_has_its_own_message") {
  std::vector<std::string> meanings;
  for (const auto code : all_codes) {
    const std::error_code made = code;
    CHECK(made.category() == redlock::category());
    CHECK(made.value() == static_cast<int>(code));
    CHECK(made);
    for (const auto& other : meanings) CHECK(made.message() != other);
    meanings.push_back(made.message());
  }
  CHECK(redlock::category().name() == std::string{"redlock"});
}

TEST_CASE("a_value_that_is_no_code_has_a_message_that_says_so") {
  const std::error_code unknown{42, redlock::category()};
  CHECK(unknown.message() == "unknown redlock error 42");
  CHECK_FALSE(unknown == std::error_code{Errc::held});
}

TEST_CASE("codes_equal_exactly_the_documented_conditions") {
  const std::vector<std::errc> conditions{std::errc::device_or_resource_busy, std::errc::timed_out,
                                          std::errc::operation_canceled, std::errc::invalid_argument};
  const auto expected = [](Errc code, std::errc condition) {
    return (code == Errc::held && condition == std::errc::device_or_resource_busy) ||
           (code == Errc::timed_out && condition == std::errc::timed_out) ||
           (code == Errc::cancelled && condition == std::errc::operation_canceled) ||
           (code == Errc::invalid_argument && condition == std::errc::invalid_argument);
  };
  for (const auto code : all_codes) {
    for (const auto condition : conditions) {
      CAPTURE(code, static_cast<int>(condition));
      CHECK((std::error_code{code} == condition) == expected(code, condition));
    }
  }
}

TEST_CASE("the_message_of_an_error_has_the_outcome_the_details_and_a_line_per_node") {
  const Error error{
      Errc::no_quorum,
      "1 of 3 nodes voted",
      {report("redis://a:1", NodeStatus::granted), report("redis://b:2", NodeStatus::unreachable),
       report("redis://c:3", NodeStatus::timed_out, "no answer within 250 ms")}};
  CHECK(error.what() == std::string{"no quorum: 1 of 3 nodes voted\n"
                                    "  redis://a:1: granted\n"
                                    "  redis://b:2: unreachable\n"
                                    "  redis://c:3: timed out (no answer within 250 ms)"});
  CHECK(error.code() == Errc::no_quorum);
  REQUIRE(error.nodes().size() == 3);
  CHECK(error.nodes()[2] == report("redis://c:3", NodeStatus::timed_out, "no answer within 250 ms"));
}

TEST_CASE("the_message_of_an_error_without_details_or_nodes_is_its_outcome") {
  const Error error{Errc::cancelled, ""};
  CHECK(error.what() == std::error_code{Errc::cancelled}.message());
  CHECK(error.nodes().empty());
}

TEST_CASE("copies_of_an_error_keep_everything") {
  const Error error{Errc::held, "why", {report("redis://a:1", NodeStatus::held)}};
  const Error copy{error};  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  Error assigned{Errc::lost, "other"};
  assigned = copy;
  CHECK(assigned.what() == std::string{error.what()});
  CHECK(assigned.code() == Errc::held);
  REQUIRE(assigned.nodes().size() == 1);
  CHECK(assigned.nodes()[0].node == "redis://a:1");
  CHECK(assigned.details() == "why");
}

TEST_CASE("copying_and_moving_an_error_throws_nothing_and_leaves_the_source_as_it_was") {
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<Error>);
  STATIC_REQUIRE(std::is_nothrow_copy_assignable_v<Error>);
  Error error{Errc::held, "why", {report("redis://a:1", NodeStatus::held)}};
  const Error moved{std::move(error)};
  for (const Error& each : {error, moved}) {  // NOLINT(bugprone-use-after-move): that is what is tested
    CHECK(each.details() == "why");
    CHECK(each.nodes().size() == 1);
  }
}

TEST_CASE("an_error_may_have_a_code_of_the_system") {
  const Error error{std::make_error_code(std::errc::too_many_files_open), "no timer"};
  CHECK(error.what() == std::string{"Too many open files: no timer"});
  CHECK(error.code() == std::errc::too_many_files_open);
}

TEST_CASE("an_error_can_be_caught_as_a_standard_exception") {
  const auto fail = [] { throw Error(Errc::timed_out, "why"); };
  CHECK_THROWS_AS(fail(), std::system_error);
  CHECK_THROWS_AS(fail(), std::runtime_error);
}
