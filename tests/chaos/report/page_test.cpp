// The report of a history that is written by hand.
#include "chaos/report/page.hpp"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace redlock::chaos;
using redlock::testing::contains;
using redlock::testing::TempFolder;
using std::chrono::milliseconds;

constexpr Instant one_second = redlock::simulation::second;
constexpr std::string_view name_that_is_markup = R"(<script>alert("a&b")</script>)";

RunOptions example_options() {
  RunOptions options;
  options.seed = 4711;
  options.length = std::chrono::seconds{70};
  return options;
}

/// Two faults in 70 s, besides one that has not found its process, and two clients of which the second one gets the lock while the first one has it.
Outcome example_outcome() {
  Outcome outcome;
  outcome.begun = 100 * one_second;
  outcome.ended = 170 * one_second;
  outcome.written_fenced = 33;
  outcome.troubles = {"node 1 refuses <DEBUG>"};
  outcome.plan.faults = {
      {.kind = Kind::crash_empty, .at = milliseconds{1000}, .length = milliseconds{2000}, .target = 1},
      {.kind = Kind::client_stop, .at = milliseconds{62'000}, .length = milliseconds{1000}, .target = 1},
      {.kind = Kind::client_kill, .at = milliseconds{64'000}, .length = milliseconds{1000}, .target = 1}};
  const auto tell = [&](Instant at, std::uint64_t fault, const std::string& word) {
    outcome.faults.push_back({.at = at,
                              .what = Entry::What::fault,
                              .number = fault,
                              .words = {word, describe(outcome.plan.faults[fault], 3)}});
  };
  tell(101 * one_second, 0, "begin");
  tell(103 * one_second, 0, "end");
  tell(162 * one_second, 1, "begin");
  tell(163 * one_second, 1, "end");
  outcome.logs.resize(2);
  const auto hold = [&](int client, Instant at, const std::string& token, Instant deadline) {
    outcome.logs[static_cast<std::size_t>(client)].push_back(
        {.at = at,
         .what = Entry::What::hold,
         .client = client,
         .number = 1,
         .words = {std::string{name_that_is_markup}, token, std::to_string(deadline)}});
  };
  hold(0, 110 * one_second, "7", 130 * one_second);
  hold(1, 120 * one_second, "8", 140 * one_second);
  outcome.logs[1].push_back({.at = 125 * one_second,
                             .what = Entry::What::lost,
                             .client = 1,
                             .number = 1,
                             .words = {"deleted", "by"}});
  Case given;
  given.logs = outcome.logs;
  given.end = outcome.ended;
  outcome.verdict = judge(given);
  return outcome;
}

std::string page_of(const Outcome& outcome) {
  const TempFolder folder;
  const std::string path = folder.path() / "page.html";
  write_page(path, example_options(), outcome);
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the_report_of_a_run_is_one_page_with_the_seed_the_counts_and_what_broke") {
  const std::string page = page_of(example_outcome());
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(count_of("<html", page) == 1);
  CHECK(count_of("</html>", page) == 1);
  CHECK_THAT(page, contains("seed 4711, profile within, 3 nodes, 70 s\n"));
  CHECK_THAT(page, contains("2 faults, 2 grants"));
  CHECK_THAT(page, contains("33 writes to the fenced store"));
  CHECK_THAT(page, contains("not as planned: node 1 refuses"));
  CHECK_THAT(page, contains("broken after 20 s: exclusion: "));
  CHECK_THAT(page, contains("20 s  client B, hold 1 "));
}

TEST_CASE("the_timeline_of_a_report_shows_each_minute_with_faults_holders_and_a_mark_at_what_broke") {
  const std::string page = page_of(example_outcome());
  CHECK(count_of("<svg ", page) == 2);
  CHECK(count_of("</svg>", page) == 2);
  const std::size_t second = page.rfind("<svg ");
  const std::string_view first_minute = std::string_view{page}.substr(0, second);
  const std::string_view second_minute = std::string_view{page}.substr(second);
  CHECK(count_of("<rect class=\"loss\"", first_minute) == 1);
  CHECK(count_of("<title>crash-empty of node 1</title>", first_minute) == 1);
  CHECK(count_of("<rect class=\"hold\"", first_minute) == 2);
  CHECK(count_of(", token 8, lost: deleted by</title>", first_minute) == 1);
  CHECK(count_of("<path class=\"broken\"", first_minute) == 1);
  CHECK(count_of("<rect class=\"fault\"", second_minute) == 1);
  CHECK(count_of("<title>client-stop of client B</title>", second_minute) == 1);
  CHECK(count_of("<path class=\"broken\"", second_minute) == 0);
}

TEST_CASE("a_report_of_a_run_in_which_nothing_broke_has_no_mark") {
  Outcome outcome = example_outcome();
  outcome.verdict.violation.reset();
  const std::string page = page_of(outcome);
  CHECK(count_of("<svg ", page) == 2);
  CHECK(count_of("<path class=\"broken\"", page) == 0);
  CHECK(count_of("broken after", page) == 0);
}

TEST_CASE("the_texts_of_a_report_are_escaped") {
  const std::string page = page_of(example_outcome());
  const std::string escaped = "&lt;script>alert(&quot;a&amp;b&quot;)&lt;/script>";
  CHECK(count_of("<script", page) == 0);
  CHECK_THAT(page, contains("<title>" + escaped + ", token 7</title>"));
  CHECK_THAT(page, contains("hold 1 " + escaped));
  CHECK_THAT(page, contains("refuses &lt;DEBUG>"));
}

TEST_CASE("a_report_needs_nothing_but_its_own_file") {
  const std::string page = page_of(example_outcome());
  for (const char* const reference :
       {"http:", "https:", "src=", "href=", "url(", "@import", "<link", "<img", "<iframe", "<object"})
    CHECK(count_of(reference, page) == 0);
}

TEST_CASE("a_report_that_cannot_be_written_is_an_error") {
  CHECK_THROWS_AS(write_page("/no-such-folder/page.html", example_options(), example_outcome()),
                  std::runtime_error);
}
