// The keys of seats, what a client remembers of them, and the search for a free one.
#include "redlock/core/lock/seat_search.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/hex.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

/// A search among four seats on three nodes, whose attempts the test ends.
class Search final : public Outbox, SeatSearch::Caller {
 public:
  Search() : search{new SeatSearch{*this, {"gpu#", 4, 1000ms, 50ms, 7}, 3}} {}

  void start() { search->start(at(0ms), *this); }
  /// All nodes answer the attempt that is under way, with the vote of a plain SET.
  void vote(const Reply& reply) {
    const Ref<Operation> attempt = attempts.back();
    for (NodeIndex node = 0; node < 3; ++node)
      if (!attempt->done()) attempt->answered(node, 0, reply, at(1ms), *this);
    for (NodeIndex node = 0; node < 3; ++node)  // the release, which explains a denial
      if (!attempt->done()) attempt->answered(node, 2, number(0), at(1ms), *this);
    REQUIRE(attempt->done());
    search->child_ended(*attempt, at(1ms), *this);
  }
  /// A node says for how many ms each seat is taken.
  void tell(NodeIndex node, const std::vector<std::int64_t>& left) {
    std::vector<Reply> replies;
    for (const std::int64_t ms : left) replies.push_back(number(ms));
    search->answered(node, round, array_reply(std::move(replies)), at(2ms), *this);
  }
  void fall_silent() { search->timed_out(search->deadline(), *this); }
  void abandon() { search->abandon(Errc::cancelled, at(3ms), *this); }
  [[nodiscard]] std::size_t seat() const { return seats.back(); }
  /// The PTTL of all seats if only this one is free.
  [[nodiscard]] static std::vector<std::int64_t> free_is(std::size_t seat) {
    std::vector<std::int64_t> left(4, 700);
    left[seat] = -2;
    return left;
  }
  [[nodiscard]] static std::vector<std::int64_t> none_is_free() { return std::vector<std::int64_t>(4, 700); }

  Ref<SeatSearch> search;
  std::vector<std::size_t> seats;  // tried
  std::size_t reads = 0;

 private:
  Attempt attempt_at(std::size_t seat, Time) override {
    seats.push_back(seat);
    Claim claim{
        .key = seat_key("gpu#", seat), .owner = std::string(40, 'a'), .ttl = 1000ms, .node_timeout = 50ms};
    auto* const acquisition = new Acquisition{std::move(claim), 3, Acquisition::Purpose::try_once};
    return {Ref<Operation>{acquisition}, acquisition};
  }
  const Trouble* send(NodeIndex, std::string_view command, Operation& sender, SendOptions options) override {
    if (&sender != search.get()) return nullptr;
    CHECK(command.find("gpu#3") != command.npos);
    round = options.step;
    ++reads;
    return nullptr;
  }
  void submit(const Ref<Operation>& child) override { attempts.emplace_back(child)->start(at(0ms), *this); }
  void abandon(const Ref<Operation>& child, Errc why) override {
    child->abandon(why, at(3ms), *this);
    search->child_ended(*child, at(3ms), *this);
  }

  std::vector<Ref<Operation>> attempts;
  Step round = 0;
};

const Reply granted = ok();
const Reply denied{};

}  // namespace

TEST_CASE("a_key_names_a_seat_by_up_to_three_digits_after_a_hash") {
  REQUIRE(seat_of("gpu#0"));
  CHECK(seat_of("gpu#0")->line_key == "gpu#");
  CHECK(seat_of("a#7#999")->line_key == "a#7#");
  CHECK(seat_of("a#7#999")->seat == 999);
  for (const char* const key : {"", "7", "#", "#7", "gpu", "gpu#", "gpu7", "gpu#x", "gpu#1000", "gpu#7 "}) {
    CAPTURE(key);
    CHECK_FALSE(seat_of(key));
  }
  CHECK(seat_of(seat_key(line_of_seats("gpu"), 41))->seat == 41);
}

TEST_CASE("the_seat_that_became_free_last_is_taken_first_and_once") {
  FreedSeats freed;
  CHECK_FALSE(freed.take("gpu#", 8));
  for (const std::size_t seat : {3U, 7U, 1U, 3U}) freed.add("gpu#", seat);
  freed.add("cpu#", 5);
  CHECK(freed.take("gpu#", 8) == 3U);
  CHECK(freed.take("gpu#", 8) == 1U);
  CHECK_FALSE(freed.take("gpu#", 7));  // seat 7 is not one of these
  CHECK(freed.take("cpu#", 8) == 5U);
}

TEST_CASE("what_is_remembered_of_freed_seats_is_bounded") {
  FreedSeats freed;
  for (std::size_t seat = 0; seat < 100; ++seat) freed.add("gpu#", seat);
  int count = 0;
  while (freed.take("gpu#", most_seats)) ++count;
  CHECK(count == 64);
  for (int name = 0; name < 1001; ++name) freed.add(std::to_string(name), 0);
  CHECK_FALSE(freed.take("0", 1));
  CHECK(freed.take("1000", 1) == 0U);
}

TEST_CASE("a_free_seat_takes_one_attempt") {
  Search search;
  search.start();
  CHECK(search.reads == 3);  // beside the attempt
  search.vote(granted);
  CHECK(search.search->done());
  CHECK(search.search->last()->granted());
  CHECK(search.seats.size() == 1);
}

TEST_CASE("a_seat_that_is_free_on_a_majority_is_tried_next") {
  Search search;
  search.start();
  const std::size_t other = (search.seat() + 1) % 4;
  search.tell(0, Search::free_is(other));
  search.vote(denied);
  CHECK(search.seats.size() == 1);
  search.tell(2, Search::free_is(other));
  REQUIRE(search.seats.size() == 2);
  CHECK(search.seat() == other);
  search.vote(granted);
  CHECK(search.search->last()->granted());
}

TEST_CASE("each_later_choice_reads_the_seats_anew") {
  Search search;
  search.start();
  const std::size_t other = (search.seat() + 1) % 4;
  for (NodeIndex node = 0; node < 3; ++node) search.tell(node, Search::free_is(other));
  search.vote(denied);
  CHECK(search.reads == 3);
  search.vote(denied);
  CHECK(search.reads == 6);
  CHECK(search.seats.size() == 2);
}

TEST_CASE("a_search_ends_when_no_majority_can_have_a_free_seat") {
  Search search;
  search.start();
  const std::size_t other = (search.seat() + 1) % 4;
  search.vote(denied);
  search.tell(0, Search::none_is_free());
  CHECK_FALSE(search.search->done());
  SECTION("because two nodes say so") { search.tell(1, Search::none_is_free()); }
  SECTION("because the others do not answer") {
    search.tell(1, Search::free_is(other));
    search.fall_silent();
  }
  SECTION("because a reply is not the one of the script") {
    search.tell(1, Search::free_is(other));
    search.tell(2, {-2, -2});
  }
  SECTION("because a connection breaks") {
    search.tell(1, Search::free_is(other));
    search.search->disconnected(2, {}, at(2ms), search);
  }
  REQUIRE(search.search->done());
  CHECK(search.search->last()->failure() == Errc::held);
  CHECK(search.seats.size() == 1);
}

TEST_CASE("a_seat_that_is_denied_although_it_is_free_ends_the_search") {
  Search search;
  search.start();
  for (NodeIndex node = 0; node < 3; ++node) search.tell(node, {-2, -2, -2, -2});
  search.vote(denied);
  CHECK(search.search->done());
  CHECK(search.seats.size() == 1);
}

TEST_CASE("a_search_tries_twelve_seats_at_most") {
  Search search;
  search.start();
  while (!search.search->done() && search.seats.size() < 20) {
    const std::size_t other = (search.seat() + 1) % 4;
    search.vote(denied);
    for (NodeIndex node = 0; node < 3; ++node) search.tell(node, Search::free_is(other));
  }
  CHECK(search.seats.size() == 12);
}

TEST_CASE("a_search_that_is_abandoned_says_why") {
  Search search;
  SECTION("before it began") {}
  SECTION("during an attempt") { search.start(); }
  search.abandon();
  REQUIRE(search.search->done());
  CHECK(search.search->last()->failure() == Errc::cancelled);
}
