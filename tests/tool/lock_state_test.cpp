// The state of a lock, derived from the reports of its nodes.
#include "tool/lock_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::tool::lock_state_of;
using redlock::tool::LockState;

namespace {

NodeReport held_by(const std::string& owner, std::chrono::milliseconds ttl = 10s) {
  return {"node", NodeStatus::held, {}, owner, ttl};
}
const NodeReport free_node{"node", NodeStatus::free, {}, {}, {}};
const NodeReport silent{"node", NodeStatus::timed_out, {}, {}, {}};

/// Example: `aab.?`. A letter is an owner, a dot a free node, a question mark a silent node.
std::vector<NodeReport> nodes(const std::string& picture) {
  std::vector<NodeReport> result;
  for (const char c : picture)
    result.push_back(c == '.' ? free_node : c == '?' ? silent : held_by(std::string{c}));
  return result;
}

char kind_of(const std::string& picture) {
  switch (lock_state_of(nodes(picture)).kind) {
    case LockState::Kind::held:
      return 'h';
    case LockState::Kind::shared:
      return 's';
    case LockState::Kind::kept:
      return 'k';
    case LockState::Kind::free:
      return 'f';
    case LockState::Kind::unknown:
      break;
  }
  return '?';
}

/// Tries every answer that the silent nodes might give.
char possible_kind(const std::string& picture) {
  const std::size_t silent_one = picture.find('?');
  if (silent_one == std::string::npos) {
    for (const char owner : std::string{"abc"})
      if (2 * static_cast<std::size_t>(std::count(picture.begin(), picture.end(), owner)) > picture.size())
        return owner;
    return '.';
  }
  char common = 0;
  for (const char said : std::string{"abc."}) {
    std::string said_all = picture;
    said_all[silent_one] = said;
    const char outcome = possible_kind(said_all);
    if (outcome == '?' || (common != 0 && common != outcome)) return '?';
    common = outcome;
  }
  return common;
}

}  // namespace

TEST_CASE("the_state_is_known_exactly_when_silent_nodes_cannot_change_it") {
  for (const std::size_t count : {1U, 2U, 3U, 5U}) {
    const std::string said = "ab.?";
    std::size_t pictures = 1;
    for (std::size_t node = 0; node < count; ++node) pictures *= said.size();
    for (std::size_t number = 0; number < pictures; ++number) {
      std::string picture;
      for (std::size_t rest = number; picture.size() < count; rest /= said.size())
        picture += said[rest % said.size()];
      const char outcome = possible_kind(picture);
      CAPTURE(picture, outcome);
      CHECK(kind_of(picture) == (outcome == '.' ? 'f' : outcome == '?' ? '?' : 'h'));
    }
  }
}

TEST_CASE("a_lock_is_held_while_a_majority_has_it") {
  const std::vector<NodeReport> reports{held_by("a", 3s), held_by("a", 9s), held_by("a", 5s),
                                        held_by("a", 7s), held_by("b", 60s)};
  const LockState state = lock_state_of(reports);
  CHECK(state.kind == LockState::Kind::held);
  CHECK(state.owner == "a");
  CHECK(state.ttl == 5s);  // after that only two nodes hold it, for 7 s and 9 s
}

TEST_CASE("the_token_is_the_counter_of_most_copies_else_the_greatest") {
  const auto token = [](std::vector<std::uint64_t> counters) {
    std::vector<NodeReport> reports{held_by("b")};
    reports.back().counter = redlock::FencingToken{99};  // another owner's
    for (const std::uint64_t counter : counters) {
      reports.push_back(held_by("a"));
      if (counter != 0) reports.back().counter = redlock::FencingToken{counter};
    }
    const auto found = redlock::tool::token_of(reports, "a");
    return found ? found->value() : 0;
  };
  CHECK(token({7, 9, 7}) == 7);
  CHECK(token({5, 7, 7}) == 7);
  CHECK(token({7, 9}) == 9);
  CHECK(token({3, 9, 5}) == 9);
  CHECK(token({0, 0, 5}) == 5);
  CHECK(token({0}) == 0);
  CHECK(token({}) == 0);
}

TEST_CASE("each_state_is_described_by_a_sentence") {
  const auto say = [](const std::vector<NodeReport>& reports) {
    return describe(lock_state_of(reports), "r", reports);
  };
  CHECK(say(nodes("aaa..")) == "r is held by a, for 10.0 s unless extended.");
  CHECK(say({{"node", NodeStatus::held, {}, "a", {}}}) == "r is held by a and never expires.");
  CHECK(say(nodes("a....")) == "Nobody holds r.");
  CHECK(say(nodes("aa???")) == "Cannot tell who holds r: only 2 of 5 nodes voted.");
}

TEST_CASE("a_lock_that_a_majority_keeps_after_its_release_is_held_by_nobody") {
  std::vector<NodeReport> reports = nodes("a..");
  reports[1] = held_by("redlock:kept", 12s);
  reports[2] = held_by("redlock:kept", 13s);
  const LockState kept = lock_state_of(reports);
  CHECK(kept.kind == LockState::Kind::kept);
  CHECK(kept.owner.empty());
  CHECK(kept.ttl == 12s);
  CHECK(describe(kept, "r", reports) == "Nobody holds r: it is kept by at_least, free in 12.0 s.");
  reports[1].ttl.reset();
  reports[2].ttl.reset();
  CHECK(describe_kept(lock_state_of(reports)) == "kept by at_least, and never free");
}

TEST_CASE("a_lock_that_readers_share_on_a_majority_has_no_owner") {
  std::vector<NodeReport> reports = nodes("a..");
  reports[1] = held_by("redlock:shared", 12s);
  CHECK(lock_state_of(reports).kind == LockState::Kind::free);
  reports[2] = held_by("redlock:shared", 13s);
  const LockState shared = lock_state_of(reports);
  CHECK(shared.kind == LockState::Kind::shared);
  CHECK(shared.owner.empty());
  CHECK(shared.ttl == 12s);
  CHECK(describe(shared, "r", reports) == "r is held by readers, for 12.0 s unless extended.");
  reports[1].readers = reports[2].readers = {std::string(40, 'a') + " web1:17 @1795442531"};
  CHECK(describe(shared, "r", reports) ==
        "r is held by 1 reader: aaaaaaaa web1:17, for 12.0 s unless extended.");
  reports[1].readers.push_back("another program's");
  reports[2].readers.push_back("another program's");
  CHECK(describe(shared, "r", reports) ==
        "r is held by 2 readers: aaaaaaaa web1:17, another program's, for 12.0 s unless extended.");
}
