// Keys, replies and gates of the waiting line.
#include <chrono>
#include <set>
#include <string>

#include "redlock/core/line/gates.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/line/line_view.hpp"
#include "support/catch.hpp"
#include "unit/support/standing_client.hpp"

using namespace std::chrono_literals;
using namespace redlock::core;
using namespace redlock::testing;

TEST_CASE("the_keys_of_a_line_are_in_the_slot_of_the_lock_and_lead_back_to_it") {
  const std::string key = GENERATE("stock", "a {tag} b", "with:colons", "}");
  const LineKeys keys{key};
  CHECK(lock_key_of_order(keys.order) == key);
  CHECK(keys.flag == flag_key(key));
  CHECK(std::set{keys.order, keys.alive, keys.born, keys.flag}.size() == 4);
  CHECK_FALSE(lock_key_of_order("redlock:f:{stock}"));
  CHECK_FALSE(lock_key_of_order(""));
  CHECK(LineKeys{"stock"}.order == "redlock:qo:{stock}");
  CHECK(LineKeys{"a {tag} b"}.alive == "redlock:qat:a {tag} b");
}

TEST_CASE("only_a_reply_of_the_line_s_script_is_a_place") {
  const auto place_in = [](const Reply& reply) { return read_place(reply, 4s); };
  const auto place = place_in(place_reply(1, 4, "name", 2500));
  REQUIRE(place);
  CHECK(place->rank == 1);
  CHECK(place->length == 4);
  CHECK(place->line == "name");
  CHECK(place->ahead_left == Span{2500ms});
  CHECK(place_in(place_reply(1, 4, "name", 1'000'000))->ahead_left == Span{4s});
  CHECK_FALSE(place_in(place_reply(1, 4))->ahead_left);
  CHECK_FALSE(place_in(place_reply(1, 4, "", -1, false))->can_publish);
  CHECK_FALSE(place_in(nil()));
  CHECK_FALSE(place_in(error_reply("NOPERM")));
  CHECK_FALSE(place_in(array_reply({number(0), number(0), number(0), number(1), number(1)})));
  CHECK_FALSE(place_in(place_reply(-2, 4)));
  CHECK_FALSE(place_in(place_reply(-1, -1)));
  CHECK_FALSE(place_in(place_reply(0, 0)));
  CHECK_FALSE(place_in(place_reply(4, 4)));
  CHECK(place_in(place_reply(3, 4)));
  CHECK_FALSE(place_in(place_reply(0, 1, std::string(101, 'x'))));
  CHECK(place_in(place_reply(-1, 0, std::string(100, 'x'))));
  CHECK_FALSE(place_in(array_reply({string_reply("0"), number(0), number(0), number(1), string_reply("")})));
}

TEST_CASE("a_time_that_is_no_whole_number_is_no_time_and_its_line_is_empty") {
  const auto time_in = [](const std::string& seconds) {
    return array_reply({string_reply(seconds), string_reply("5")});
  };
  CHECK(read_time(time_in("7")) == 7'000'005.0);
  const Reply order = array_reply({string_reply("member"), string_reply("1000000")});
  CHECK(read_line(order, nil(), time_in("7")).size() == 1);
  for (const std::string seconds : {"nan", "inf", "-inf", "1e308", "", "7x", "7.5", "9999999999999999999"}) {
    CAPTURE(seconds);
    CHECK_FALSE(read_time(time_in(seconds)));
    CHECK(read_line(order, nil(), time_in(seconds)).empty());
  }
  CHECK_FALSE(read_time(nil()));
}

TEST_CASE("clients_choose_the_same_gate_whatever_the_order_of_their_nodes_and_keys_have_different_gates") {
  LineNodesOfTest nodes{5};
  LineNodesOfTest reversed{5};
  std::reverse(std::begin(reversed.names), std::end(reversed.names));
  std::set<NodeIndex> chosen;
  for (int number_of_key = 0; number_of_key < 100; ++number_of_key) {
    const std::string key = "key " + std::to_string(number_of_key);
    const NodeIndex gate = Gates{5}.best(key, nodes, {}).value();
    CHECK(Gates{5}.best(key, reversed, {}) == 4 - gate);
    chosen.insert(gate);
  }
  CHECK(chosen.size() == 5);
  nodes.ready = {true, true, false, false, false};
  CHECK_FALSE(Gates{5}.best("key", nodes, {}));
}
