#include "redlock/core/lock/fence.hpp"

#include "support/catch.hpp"

using redlock::core::counter_key;
using redlock::core::has_hash_tag;

TEST_CASE("a_counter_is_hashed_as_its_lock_is") {
  CHECK(counter_key("invoice/42") == "redlock:f:{invoice/42}");
  CHECK(counter_key("a{b}c") == "redlock:ft:a{b}c");
  CHECK(counter_key("a{b") == "redlock:f:{a{b}");
}

TEST_CASE("a_hash_tag_is_what_stands_between_the_first_brace_and_the_next_that_closes") {
  CHECK(has_hash_tag("{a}"));
  CHECK(has_hash_tag("x{a}{b}"));
  CHECK_FALSE(has_hash_tag("a"));
  CHECK_FALSE(has_hash_tag("{}a"));
  CHECK_FALSE(has_hash_tag("{a"));
  CHECK_FALSE(has_hash_tag("}a{"));
}
