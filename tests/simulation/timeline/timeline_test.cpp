// Timelines as text and as pictures.
#include "simulation/timeline/timeline.hpp"

#include <limits>

#include "simulation/timeline/timeline_layout.hpp"
#include "simulation/timeline/well_known_histories.hpp"
#include "simulation/timeline/words.hpp"
#include "support/catch.hpp"

using namespace redlock::simulation;
using redlock::testing::contains;

namespace {

using Kind = Event::Kind;
using Events = std::vector<Event>;
constexpr Instant ms = 1'000'000;

Picture picture(const Events& events) { return {"a title", "a verdict", 2, 3, events}; }
std::string text_of(const Events& events) { return text_timeline(picture(events)); }
std::string svg_of(const Events& events) { return svg_timeline(picture(events)); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The text between `<g class="name"` and the end of that group.
std::string group(const std::string& svg, const std::string& name) {
  const auto begin = svg.find("<g class=\"" + name + "\"");
  return begin == std::string::npos ? "" : svg.substr(begin, svg.find("</g>", begin) - begin);
}

/// Checks that elements are properly nested and that every ampersand starts an entity.
bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (auto at = svg.find_first_of("<&"); at != std::string::npos; at = svg.find_first_of("<&", at + 1)) {
    const auto end = svg.find(svg[at] == '<' ? '>' : ';', at);
    if (end == std::string::npos) return false;
    const std::string inside = svg.substr(at + 1, end - at - 1);
    if (svg[at] == '&') {
      if (inside != "lt" && inside != "gt" && inside != "amp" && inside != "quot") return false;
    } else if (inside.front() == '/') {
      if (open.empty() || open.back() != inside.substr(1)) return false;
      open.pop_back();
    } else if (count(inside, "\"") % 2 != 0 || inside.find('<') != std::string::npos) {
      return false;
    } else if (inside.back() != '/') {
      open.push_back(inside.substr(0, inside.find(' ')));
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("the_text_has_one_line_per_event_in_order_of_start") {
  const Events events{
      {Kind::hold, 3 * ms, 290 * ms, 0, -1, "token 17"},
      {Kind::request, 1'500'250, 2 * ms, 0, 2, "grant"},
      {Kind::note, 1 * ms, 1 * ms, 0, -1, "asks for the lock"},
      {Kind::reply, 2 * ms, 3 * ms, 0, 2, "granted 17"},
      {Kind::lost, 4 * ms, 9 * ms, 1, 0, "grant"},
      {Kind::fault, 5 * ms, 5 * ms, -1, 1, "crash"},
      {Kind::fault, 6 * ms, 8 * ms, 1, 1, "cut off"},
      {Kind::note, 7 * ms, 7 * ms, -1, -1, "all faults are over"},
  };
  CHECK(text_of(events) ==
        "a title\n"
        "a verdict\n"
        "\n"
        "          ms  who                   what\n"
        "       1.000  client A              asks for the lock\n"
        "       1.500  client A -> node 3    grant (executed at 2.000)\n"
        "       2.000  node 3 -> client A    granted 17 (read at 3.000)\n"
        "       3.000  client A              holds until 290.000: token 17\n"
        "       4.000  client B -> node 1    grant (lost)\n"
        "       5.000  node 2                ! crash\n"
        "       6.000  client B and node 2   ! cut off until 8.000\n"
        "       7.000                        all faults are over\n");
}

TEST_CASE("events_of_one_instant_keep_their_recorded_order") {
  const std::string text =
      text_of({{Kind::note, ms, ms, 1, -1, "first"}, {Kind::note, ms, ms, 0, -1, "second"}});
  CHECK(text.find("first") < text.find("second"));
}

TEST_CASE("instants_are_truncated_and_keep_trailing_zeros") {
  CHECK(milliseconds(0, 3) == "0.000");
  CHECK(milliseconds(1'001'999, 3) == "1.001");
  CHECK(milliseconds(-2'500'000, 1) == "-2.5");
  CHECK(milliseconds(std::numeric_limits<Instant>::min(), 0) == "-9223372036854");
}

TEST_CASE("arbitrary_bytes_stay_in_one_line_and_leave_the_picture_well_formed") {
  const std::string nul(1, '\0');
  const std::string evil = "<\"&'>\n\xff" + nul + "]]><!--";
  for (const Kind kind : {Kind::request, Kind::reply, Kind::lost, Kind::fault, Kind::hold, Kind::note}) {
    const Events events{{kind, 0, ms, 0, 0, evil}};
    const Picture shown{evil, evil, 1, 1, events};
    CHECK(count(text_timeline(shown), "\n") == 5);
    CHECK(is_well_formed(svg_timeline(shown)));
  }
  CHECK(printable("a" + nul + "b\n\xff~") == "a\\x00b\\x0a\\xff~");
  CHECK_FALSE(is_well_formed("<svg><g></svg></g>"));  // the check itself works
  CHECK_FALSE(is_well_formed("<svg>a & b</svg>"));
}

TEST_CASE("an_empty_history_has_a_lane_for_every_client_and_node") {
  const std::string svg = svg_of({});
  CHECK(is_well_formed(svg));
  for (const char* name : {"client A", "client B", "node 1", "node 2", "node 3", "a title", "a verdict"})
    CHECK_THAT(svg, contains(std::string{">"} + name + "</text>"));
  CHECK(count(text_of({}), "\n") == 4);
}

TEST_CASE("a_client_or_node_in_an_event_has_a_lane_even_if_undeclared") {
  const Events events{{Kind::request, 0, ms, 4, 6, "grant"}};
  const std::string svg = svg_timeline({"", "", 0, 0, events});
  CHECK_THAT(svg, contains(">client E</text>") && contains(">node 7</text>"));
}

TEST_CASE("every_hold_has_a_bar_from_start_to_end_on_its_clients_lane") {
  const Events events = paused_past_its_ttl();
  const std::string bars = group(svg_of(events), "hold");
  const TimelineLayout layout = lay_out(picture(events));
  std::size_t holds = 0;
  for (const Event& event : events) {
    if (event.kind != Kind::hold) continue;
    ++holds;
    const int top = layout.y.at(event.from);
    CHECK_THAT(bars, contains("<rect x=\"" + std::to_string(layout.client_x(event.client) - 7) + "\" y=\"" +
                              std::to_string(top) + "\" width=\"14\" height=\"" +
                              std::to_string(layout.y.at(event.to) - top) + "\""));
  }
  CHECK(holds == 2);
  CHECK(count(bars, "<rect") == holds);
}

TEST_CASE("two_holders_at_once_are_marked_while_they_overlap") {
  const auto found = breaches(shown_events(picture(clock_jump())));
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == 80'590'000);
  CHECK(found[0].to == 294 * ms);
  CHECK(found[0].by == 1);
  const Events events = clock_jump();
  const TimelineLayout layout = lay_out(picture(events));
  const int top = layout.y.at(found[0].from);
  CHECK_THAT(group(svg_of(events), "breach"),
             contains(" y=\"" + std::to_string(top) + "\"") &&
                 contains(" height=\"" + std::to_string(layout.y.at(found[0].to) - top) + "\""));
  CHECK(count(svg_of(events), ">two holders at once</text>") == 2);  // beside the lane and in the legend
}

TEST_CASE("a_lost_command_starts_at_the_client_and_a_lost_reply_at_the_node") {
  const Events events{{Kind::request, 0, ms, 0, 1, "grant"},
                      {Kind::lost, ms, 9 * ms, 0, 1, "granted 17"},
                      {Kind::lost, ms, 9 * ms, 1, 1, "release"},
                      {Kind::lost, ms, 9 * ms, 0, 2, "confirm"}};
  CHECK_THAT(text_of(events), contains("node 2 -> client A    granted 17 (lost)") &&
                                  contains("client B -> node 2    release (lost)") &&
                                  contains("client A -> node 3    confirm (lost)"));
  const std::string svg = svg_of(events);
  const TimelineLayout layout = lay_out(picture(events));
  const std::string y = " " + std::to_string(layout.y.at(ms)) + "L";
  CHECK_THAT(group(svg, "lost"), contains("M" + std::to_string(layout.node_x(1) - 8) + y) &&
                                     contains("M" + std::to_string(layout.client_x(1) + 8) + y));
  CHECK(count(group(svg, "lost"), "<path") == 3 * 3);  // each has a shaft and a cross of two lines
  CHECK(count(group(svg, "command"), "<path") == 1);
  CHECK(group(svg, "reply").empty());
}

TEST_CASE("a_lasting_fault_is_a_span_and_a_momentary_one_is_a_mark") {
  const Events events{{Kind::fault, 0, 9 * ms, 0, -1, "paused"},
                      {Kind::fault, ms, ms, -1, 0, "crash"},
                      {Kind::fault, ms, 2 * ms, 1, 2, "cut off"}};
  const std::string svg = svg_of(events);
  CHECK(count(group(svg, "fault"), "<rect") == 2);
  CHECK(count(group(svg, "mark"), "<path") == 1);
  CHECK_THAT(svg, contains(">paused<") && contains(">crash<") && contains(">client B: cut off<"));
}

TEST_CASE("only_the_message_texts_are_omitted_if_there_are_very_many") {
  HistoryBuilder history;
  history.note(0, 0, "a note")
      .add(Kind::fault, 1, 1, 0, -1, "a fault")
      .add(Kind::hold, 2, 9, 0, -1, "a hold");
  for (int i = 0; i < most_messages_with_text / 2; ++i)
    history.exchange(100 * i, 0, i % 3, "grant", "granted");
  CHECK_THAT(svg_of(history.events()), contains(">grant<") && contains(">granted<"));
  history.exchange(99'000, 0, 0, "grant", "granted");
  const std::string svg = svg_of(history.events());
  CHECK_THAT(svg, !contains(">grant<") && !contains(">granted<"));
  CHECK_THAT(svg, contains(">a note<") && contains(">a fault<") && contains(">holds: a hold<"));
  CHECK(count(group(svg, "command"), "<path") == most_messages_with_text / 2 + 1);
}

TEST_CASE("a_window_shows_the_events_that_touch_it_and_clips_them") {
  const Events events{{Kind::note, 1 * ms, 1 * ms, 0, -1, "too early"},
                      {Kind::hold, 1 * ms, 90 * ms, 0, -1, "a hold"},
                      {Kind::note, 10 * ms, 10 * ms, 0, -1, "at its beginning"},
                      {Kind::note, 20 * ms, 20 * ms, 0, -1, "at its end"},
                      {Kind::note, 21 * ms, 21 * ms, 0, -1, "too late"}};
  Picture shown = picture(events);
  shown.window = {10 * ms, 20 * ms};
  const std::string text = text_timeline(shown);
  CHECK_THAT(text, contains("at its beginning") && contains("at its end") && !contains("too "));
  CHECK_THAT(text, contains("      10.000  client A              holds until 20.000: a hold"));
  CHECK(lay_out(shown).y.size() == 2);
}

TEST_CASE("the_well_known_pictures_are_well_formed") {
  CHECK(is_well_formed(svg_of(paused_past_its_ttl())));
  CHECK(is_well_formed(svg_of(clock_jump())));
}
