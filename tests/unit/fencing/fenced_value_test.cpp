#include "redlock/fencing/fenced_value.hpp"

#include <string>

#include "support/catch.hpp"

using redlock::fenced_value_token_key;

namespace {

/// The part of a key that Redis Cluster hashes.
std::string hashed(const std::string& key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

TEST_CASE("a_value_and_its_token_share_a_cluster_slot") {
  for (const std::string key : {"stock", "a:b", "{tag}rest", "a{tag}", "{a}{b}", "{a", "a{", " "}) {
    CAPTURE(key);
    CHECK(hashed(fenced_value_token_key(key)) == hashed(key));
  }
}

TEST_CASE("no_two_values_share_a_token_key") {
  CHECK(fenced_value_token_key("stock") == "redlock:v:{stock}");
  CHECK(fenced_value_token_key("{stock}") == "redlock:vt:{stock}");
  CHECK(fenced_value_token_key("a{}") != fenced_value_token_key("a"));
}
