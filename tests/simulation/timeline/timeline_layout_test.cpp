// The layout of a picture stays readable for any history.
#include "simulation/timeline/timeline_layout.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "simulation/timeline/text_box.hpp"
#include "simulation/timeline/well_known_histories.hpp"
#include "support/catch.hpp"

using namespace redlock::simulation;
using redlock::testing::contains;

namespace {

using Kind = Event::Kind;
using Events = std::vector<Event>;
constexpr Instant ms = 1'000'000;

Picture picture(const Events& events) { return {"a title", "a verdict", 2, 3, events}; }

Events random_events(unsigned seed, int size) {
  std::mt19937 random{seed};
  const auto below = [&random](unsigned bound) { return static_cast<int>(random() % bound); };
  Events events;
  for (Instant now = 0; size > 0; --size) {
    now += below(3) == 0 ? below(400) * ms : below(300) * 1000;
    const auto kind = static_cast<Kind>(below(6));
    const bool is_of_node = kind == Kind::fault && below(2) == 0;
    const int node = kind <= Kind::lost || is_of_node ? below(3) : -1;
    const std::string text = std::string(static_cast<std::size_t>(below(30)), 'n') + " some words";
    events.push_back({kind, now, now + below(500) * 1000, is_of_node ? -1 : below(2), node, text});
  }
  return events;
}

}  // namespace

TEST_CASE("consecutive_holds_and_two_holds_of_one_client_are_no_breach") {
  CHECK(breaches(shown_events(picture(paused_past_its_ttl()))).empty());
  CHECK(breaches(shown_events(picture({{Kind::hold, 0, 5, 0, -1, ""}, {Kind::hold, 5, 9, 1, -1, ""}})))
            .empty());
  CHECK(breaches(shown_events(picture({{Kind::hold, 0, 5, 0, -1, ""}, {Kind::hold, 3, 9, 0, -1, ""}})))
            .empty());
}

TEST_CASE("touching_breaches_are_merged_and_others_are_not") {
  const Events three{{Kind::hold, 0, 10, 0, -1, ""},
                     {Kind::hold, 2, 6, 1, -1, ""},
                     {Kind::hold, 4, 8, 2, -1, ""},
                     {Kind::hold, 9, 12, 1, -1, ""}};
  const auto found = breaches(shown_events(picture(three)));
  REQUIRE(found.size() == 2);
  CHECK((found[0].from == 2 && found[0].to == 8));
  CHECK((found[1].from == 9 && found[1].to == 10));
}

TEST_CASE("no_label_covers_another_or_leaves_the_picture") {
  const auto overlap = [](const Label& one, const Label& other) {
    return one.left() < other.right() && other.left() < one.right() && one.top < other.bottom() &&
           other.top < one.bottom();
  };
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const TimelineLayout layout = lay_out(picture(random_events(seed, 120)));
    const auto& labels = layout.labels;
    REQUIRE(labels.size() > 120);
    for (auto one = labels.begin(); one != labels.end(); ++one) {
      INFO(one->lines.front());
      CHECK(one->right() - one->left() >= text_width(one->lines.front(), Label::font_size));
      CHECK((one->left() >= 0 && one->right() <= layout.width));
      CHECK((one->top >= layout.top && one->bottom() <= layout.bottom));
      CHECK(std::none_of(labels.begin(), one, [&](const Label& other) { return overlap(*one, other); }));
    }
  }
}

TEST_CASE("an_instant_moves_down_until_its_label_fits") {
  const TimelineLayout layout =
      lay_out(picture({{Kind::note, 0, 0, 0, -1, "a"}, {Kind::note, 1000, 1000, 0, -1, "b"}}));
  for (const Label& label : layout.labels) {
    if (label.tone != Label::Tone::note) continue;
    CHECK(label.top == layout.y.at(label.lines.front() == "b" ? 1000 : 0) - Label::line_height / 2);
  }
}

TEST_CASE("later_instants_are_lower") {
  const TimelineLayout layout = lay_out(picture(random_events(7, 200)));
  REQUIRE(layout.y.size() > 200);
  const auto not_lower = [](const auto& one, const auto& next) { return one.second >= next.second; };
  CHECK(std::adjacent_find(layout.y.begin(), layout.y.end(), not_lower) == layout.y.end());
}

TEST_CASE("an_hour_without_events_adds_less_than_200_pixels") {
  const auto height = [](Instant silence) {
    return lay_out(picture({{Kind::note, 0, 0, 0, -1, "a"}, {Kind::note, silence, silence, 0, -1, "b"}}))
        .bottom;
  };
  CHECK(height(3'600'000 * ms) < height(ms) + 200);
  CHECK(height(3'600'000 * ms) > height(ms) + 50);
  CHECK(height(std::numeric_limits<Instant>::max()) < height(ms) + 1000);
}

TEST_CASE("text_is_wrapped_at_spaces_and_a_word_is_split_only_if_necessary") {
  CHECK(wrapped("one two", 12, 200, 4) == std::vector<std::string>{"one two"});
  CHECK(wrapped("one two three", 12, 50, 4) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("one afternoon", 12, 60, 4) == std::vector<std::string>{"one", "afternoon"});
  CHECK(wrapped("", 12, 50, 4) == std::vector<std::string>{""});
  const auto owner = wrapped(std::string(40, 'a'), 12, 100, 9);
  REQUIRE(owner.size() > 1);
  for (const std::string& line : owner) CHECK(text_width(line, 12) <= 100);
  const auto cut = wrapped(std::string(400, 'a'), 12, 100, 3);
  REQUIRE(cut.size() == 3);
  CHECK_THAT(cut.back(), contains("a..."));
  CHECK(text_width(cut.back(), 12) <= 100);
}
