#include "redlock/core/wire/keys.hpp"

#include "support/catch.hpp"

using redlock::core::counter_key;
using redlock::core::has_hash_tag;

TEST_CASE("a_counter_shares_the_cluster_slot_of_its_lock") {
  CHECK(counter_key("invoice/42") == "redlock:f:{invoice/42}");
  CHECK(counter_key("a{b}c") == "redlock:ft:a{b}c");
  CHECK(counter_key("a{b") == "redlock:f:{a{b}");
}

TEST_CASE("a_hash_tag_is_the_text_between_the_first_opening_and_the_next_closing_brace") {
  CHECK(has_hash_tag("{a}"));
  CHECK(has_hash_tag("x{a}{b}"));
  CHECK_FALSE(has_hash_tag("a"));
  CHECK_FALSE(has_hash_tag("{}a"));
  CHECK_FALSE(has_hash_tag("{a"));
  CHECK_FALSE(has_hash_tag("}a{"));
}
