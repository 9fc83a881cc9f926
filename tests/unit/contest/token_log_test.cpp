// The check of the token contest must find every violation.
#include "contest/token_log.hpp"

#include "support/catch.hpp"

using redlock::testing::find_violation;

TEST_CASE("tokens_that_grow_with_time_are_accepted_whichever_acquisitions_overlap") {
  CHECK_FALSE(find_violation({}));
  CHECK_FALSE(find_violation({{0, 1, 2, 5}, {0, 3, 4, 6}, {0, 5, 6, 100}}));
  CHECK_FALSE(find_violation({{0, 1, 9, 7}, {0, 2, 3, 5}, {0, 4, 5, 6}}));  // the first acquisition took long
  CHECK_FALSE(find_violation({{0, 1, 2, 5}, {0, 2, 3, 4}}));  // not complete before the other began
}

TEST_CASE("a_duplicate_token_is_found_even_among_overlapping_acquisitions") {
  CHECK(find_violation({{0, 1, 9, 5}, {0, 2, 3, 4}, {0, 4, 8, 5}}));
  CHECK_FALSE(find_violation({{0, 1, 9, 5}, {1, 1, 9, 5}}));  // of two resources
}

TEST_CASE("a_decreasing_token_is_found_however_many_acquisitions_lie_between") {
  CHECK(find_violation({{0, 1, 2, 5}, {0, 3, 4, 4}}));
  CHECK(find_violation({{0, 3, 4, 4}, {0, 1, 2, 5}}));  // in any order of the log
  CHECK(find_violation({{0, 1, 2, 9}, {0, 1, 100, 20}, {0, 3, 50, 10}, {0, 4, 60, 8}}));
}

TEST_CASE("a_missing_token_is_found") { CHECK(find_violation({{0, 1, 2, 0}})); }

TEST_CASE("readers_share_tokens_but_none_is_that_of_a_writer_or_out_of_the_order_of_writers") {
  CHECK_FALSE(find_violation({{0, 1, 2, 5, true}, {0, 3, 4, 5, true}, {0, 5, 6, 4, true}, {0, 7, 8, 6}}));
  CHECK(find_violation({{0, 1, 9, 5, true}, {0, 2, 8, 5}}));
  CHECK(find_violation({{0, 1, 2, 5}, {0, 3, 4, 4, true}}));  // a reader after a writer
  CHECK(find_violation({{0, 1, 2, 5, true}, {0, 3, 4, 4}}));  // a writer after a reader
  CHECK(find_violation({{0, 1, 2, 5}, {0, 3, 4, 7, true}, {0, 5, 6, 6}}));
  CHECK(find_violation({{0, 1, 2, 0, true}}));
}
