// Which events are counted, and the format of the metrics.
#include "redlock/metrics/prometheus.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "metrics/exposition.hpp"
#include "redlock/error.hpp"
#include "support/catch.hpp"
#include "support/metrics_text.hpp"
#include "testing/process_group.hpp"

namespace {

using namespace redlock::testing;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::Error;
using redlock::Loss;
using redlock::NodeStatus;
using redlock::Observer;
using redlock::Prometheus;
using redlock::Release;
using redlock::State;
using redlock::detail::label;

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.push_back(entry.path().filename());
  return names;
}

/// Reports events of every kind.
void report_all(Prometheus& metrics) {
  metrics.attempted({.resource = "r", .failure = {}, .took = 2ms, .second_round = true});
  metrics.waited({.resource = "r", .failure = Errc::timed_out, .waited = 3s});
  metrics.ended({.resource = "r", .held = 1s, .validity_left = 9s, .release = Release::released});
  metrics.ended({.resource = "r", .held = 1s, .release = Release::already_lost, .loss = Loss::taken});
  metrics.extended({.resource = "r", .state = State::held, .took = 1ms, .late = 2ms});
  metrics.node_changed({.node = "redis://a:1", .state = Observer::NodeState::ready, .reconnected = true});
  metrics.node_changed({.node = "redis://b:1",
                        .state = Observer::NodeState::down,
                        .trouble = NodeStatus::wrong_password,
                        .message = "no"});
  metrics.certificate_seen({.node = "redis://a:1", .end = std::chrono::sys_seconds{2'000'000'000s}});
  metrics.certificate_seen(
      {.node = "redis://a:1", .end = std::chrono::sys_seconds{1'000'000'000s}, .is_own = true});
  metrics.broken({.resource = "r", .copies = 3});
  metrics.dropped(7);
}

}  // namespace

// ── counting ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("every_event_is_counted_under_its_metric_name") {
  Prometheus metrics;
  report_all(metrics);
  const MetricsText text{metrics.text()};
  CHECK(text["redlock_attempt_duration_seconds_count{kind=\"exclusive\",outcome=\"acquired\"}"] == 1);
  CHECK(text["redlock_attempt_duration_seconds_sum{kind=\"exclusive\",outcome=\"acquired\"}"] == 0.002);
  CHECK(text["redlock_second_rounds_total{kind=\"exclusive\"}"] == 1);
  CHECK(text["redlock_wait_duration_seconds_sum{kind=\"exclusive\",outcome=\"timed_out\"}"] == 3);
  CHECK(text["redlock_hold_duration_seconds_count{kind=\"exclusive\",end=\"released\"}"] == 1);
  CHECK(text["redlock_hold_duration_seconds_count{kind=\"exclusive\",end=\"already_lost\"}"] == 1);
  CHECK(text["redlock_validity_left_seconds_count{kind=\"exclusive\"}"] == 1);
  CHECK(text["redlock_validity_left_seconds_sum{kind=\"exclusive\"}"] == 9);
  CHECK(text["redlock_losses_total{kind=\"exclusive\",reason=\"taken\"}"] == 1);
  CHECK(text["redlock_extension_duration_seconds_count{kind=\"exclusive\",outcome=\"held\"}"] == 1);
  CHECK(text["redlock_renewal_lateness_seconds_sum{kind=\"exclusive\"}"] == 0.002);
  CHECK(text["redlock_node_ready{node=\"redis://a:1\"}"] == 1);
  CHECK(text["redlock_node_reconnects_total{node=\"redis://a:1\"}"] == 1);
  CHECK(text["redlock_node_ready{node=\"redis://b:1\"}"] == 0);
  CHECK(text["redlock_node_troubles_total{node=\"redis://b:1\",status=\"wrong_password\"}"] == 1);
  CHECK(text["redlock_node_certificate_end_seconds{node=\"redis://a:1\"}"] == 2e9);
  CHECK(text["redlock_client_certificate_end_seconds{node=\"redis://a:1\"}"] == 1e9);
  CHECK(text["redlock_broken_locks_total{kind=\"exclusive\"}"] == 1);
  CHECK(text["redlock_observer_dropped_total"] == 7);
  CHECK(text.type("redlock_node_ready") == "gauge");
}

TEST_CASE("metrics_for_alerts_exist_from_the_start") {
  const MetricsText text{Prometheus{}.text()};
  for (const char* const reason :
       {"deadline_passed", "no_quorum", "deleted", "taken", "max_hold", "shut_down"})
    CHECK(text["redlock_losses_total{kind=\"exclusive\",reason=\"" + std::string{reason} + "\"}"] == 0);
  CHECK(text["redlock_second_rounds_total{kind=\"exclusive\"}"] == 0);
  CHECK(text["redlock_observer_dropped_total"] == 0);
  CHECK(text["redlock_line_waiting{kind=\"exclusive\"}"] == 0);
  CHECK(text["redlock_line_bypasses_total{kind=\"exclusive\"}"] == 0);
  CHECK(text["redlock_line_refusals_total{kind=\"exclusive\"}"] == 0);
  CHECK(text["redlock_broken_locks_total{kind=\"exclusive\"}"] == 0);
  CHECK(text.values().size() == 12);
}

TEST_CASE("each_kind_of_lock_has_lines_of_its_own_from_its_first_event") {
  using Kind = Observer::Kind;
  Prometheus metrics;
  metrics.attempted({.resource = "r", .kind = Kind::exclusive, .took = 1ms});
  metrics.attempted({.resource = "gpu#2", .kind = Kind::seat, .took = 1ms});
  metrics.attempted({.resource = "gpu#3", .kind = Kind::seat, .took = 1ms});
  metrics.attempted({.resource = "stock", .kind = Kind::shared, .took = 1ms});
  metrics.lined_up(
      {.resource = "cron", .kind = Kind::leader, .step = Observer::LineStep::entered, .position = 1});
  metrics.ended(
      {.resource = "gpu#2", .kind = Kind::seat, .release = Release::already_lost, .loss = Loss::taken});
  metrics.broken({.resource = "gpu#2", .kind = Kind::seat, .copies = 3});
  const MetricsText text{metrics.text()};
  CHECK(text["redlock_attempt_duration_seconds_count{kind=\"exclusive\",outcome=\"acquired\"}"] == 1);
  CHECK(text["redlock_attempt_duration_seconds_count{kind=\"seat\",outcome=\"acquired\"}"] == 2);
  CHECK(text["redlock_attempt_duration_seconds_count{kind=\"shared\",outcome=\"acquired\"}"] == 1);
  CHECK(text["redlock_line_waiting{kind=\"leader\"}"] == 1);
  CHECK(text["redlock_line_waiting{kind=\"seat\"}"] == 0);
  CHECK(text["redlock_losses_total{kind=\"seat\",reason=\"taken\"}"] == 1);
  CHECK(text["redlock_losses_total{kind=\"leader\",reason=\"taken\"}"] == 0);
  CHECK(text["redlock_losses_total{kind=\"exclusive\",reason=\"taken\"}"] == 0);
  CHECK(text["redlock_broken_locks_total{kind=\"seat\"}"] == 1);
  CHECK(text["redlock_broken_locks_total{kind=\"shared\"}"] == 0);
  CHECK(text["redlock_broken_locks_total{kind=\"exclusive\"}"] == 0);
}

TEST_CASE("a_kind_of_which_only_a_broken_lock_is_known_has_its_lines_as_well") {
  Prometheus metrics;
  metrics.broken({.resource = "stock", .kind = Observer::Kind::shared, .copies = 1});
  const MetricsText text{metrics.text()};
  CHECK(text["redlock_broken_locks_total{kind=\"shared\"}"] == 1);
  CHECK(text["redlock_losses_total{kind=\"shared\",reason=\"deleted\"}"] == 0);
}

TEST_CASE("calls_in_line_are_counted_with_position_and_time") {
  using Step = Observer::LineStep;
  Prometheus metrics;
  metrics.lined_up({.resource = "r", .step = Step::entered, .position = 2, .length = 2});
  metrics.lined_up({.resource = "r", .step = Step::waiting, .position = 1, .length = 1, .waited = 2s});
  metrics.lined_up({.resource = "r", .step = Step::entered, .position = 5, .length = 7});
  CHECK(MetricsText{metrics.text()}["redlock_line_waiting{kind=\"exclusive\"}"] == 2);
  metrics.lined_up({.resource = "r", .step = Step::granted, .waited = 3s});
  metrics.lined_up({.resource = "r", .step = Step::bypassed, .waited = 3s});
  metrics.lined_up({.resource = "r", .step = Step::refused});
  const MetricsText text{metrics.text()};
  CHECK(text["redlock_line_waiting{kind=\"exclusive\"}"] == 1);
  CHECK(text["redlock_line_position_count{kind=\"exclusive\"}"] == 2);
  CHECK(text["redlock_line_position_sum{kind=\"exclusive\"}"] == 7);
  CHECK(text["redlock_line_position_bucket{kind=\"exclusive\",le=\"2\"}"] == 1);
  CHECK(text["redlock_line_duration_seconds_sum{kind=\"exclusive\",outcome=\"granted\"}"] == 3);
  CHECK(text["redlock_line_bypasses_total{kind=\"exclusive\"}"] == 1);
  CHECK(text["redlock_line_refusals_total{kind=\"exclusive\"}"] == 1);
}

TEST_CASE("calls_in_line_never_become_fewer_than_none_if_events_were_dropped") {
  Prometheus metrics;
  metrics.lined_up({.resource = "r", .step = Observer::LineStep::left, .waited = 1s});
  CHECK(MetricsText{metrics.text()}["redlock_line_waiting{kind=\"exclusive\"}"] == 0);
}

TEST_CASE("a_lost_lease_is_not_counted_in_the_validity_left") {
  Prometheus metrics;
  metrics.ended({.resource = "r", .held = 1s, .release = Release::already_lost, .loss = Loss::max_hold});
  CHECK_FALSE(MetricsText{metrics.text()}.has("redlock_validity_left_seconds_count{kind=\"exclusive\"}"));
}

TEST_CASE("a_manual_extension_is_not_counted_in_the_renewal_lateness") {
  Prometheus metrics;
  metrics.extended({.resource = "r", .state = State::in_doubt, .took = 1ms, .late = {}});
  const MetricsText text{metrics.text()};
  CHECK(text["redlock_extension_duration_seconds_count{kind=\"exclusive\",outcome=\"in_doubt\"}"] == 1);
  CHECK_FALSE(text.has("redlock_renewal_lateness_seconds_count{kind=\"exclusive\"}"));
}

TEST_CASE("a_duration_is_counted_in_every_bucket_whose_bound_it_does_not_exceed") {
  Prometheus metrics;
  for (const auto took : {0ns, 1000000ns, 1000001ns, redlock::Clock::duration{1h}})
    metrics.attempted({.resource = "r", .failure = Errc::held, .took = took});
  const MetricsText text{metrics.text()};
  const auto up_to = [&](const std::string& bound) {
    return text["redlock_attempt_duration_seconds_bucket{kind=\"exclusive\",outcome=\"held\",le=\"" + bound +
                "\"}"];
  };
  CHECK(up_to("0.00025") == 1);
  CHECK(up_to("0.0005") == 1);
  CHECK(up_to("0.001") == 2);
  CHECK(up_to("0.0025") == 3);
  CHECK(up_to("2.5") == 3);
  CHECK(up_to("+Inf") == 4);
}

// ── the text ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("custom_labels_appear_in_every_line") {
  Prometheus metrics{{{"job", "nightly"}, {"a_1", "x"}}};
  report_all(metrics);
  const MetricsText text{metrics.text()};
  CHECK(text.values().size() > 50);
  for (const auto& [series, value] : text.values())
    CHECK(series.find("{a_1=\"x\",job=\"nightly\"") != std::string::npos);
}

TEST_CASE("a_label_value_is_escaped_and_valid_utf_8") {
  CHECK(label("a", "x") == "a=\"x\"");
  CHECK(label("a", "") == "a=\"\"");
  CHECK(label("a", "say \"no\" \\ \n") == "a=\"say \\\"no\\\" \\\\ \\n\"");
  CHECK(label("a", "zur\xc3\xbc\x63k \xe2\x82\xac \xf0\x9f\x94\x92") ==
        "a=\"zur\xc3\xbc\x63k \xe2\x82\xac \xf0\x9f\x94\x92\"");
  const std::string instead = "\xef\xbf\xbd";
  CHECK(label("a", {"\0", 1}) == "a=\"" + instead + "\"");
  CHECK(label("a", "\xff") == "a=\"" + instead + "\"");
  CHECK(label("a", "\x80") == "a=\"" + instead + "\"");
  CHECK(label("a", "\xc3") == "a=\"" + instead + "\"");
  CHECK(label("a", "\xc3\"") == "a=\"" + instead + "\\\"\"");
  CHECK(label("a", "\xc0\xaf") == "a=\"" + instead + instead + "\"");                // overlong
  CHECK(label("a", "\xed\xa0\x80") == "a=\"" + instead + instead + instead + "\"");  // a surrogate
  CHECK(label("a", "\xf4\x90\x80\x80") == "a=\"" + instead + instead + instead + instead + "\"");
  CHECK(label("a", "\x1b[\t\x7f") == "a=\"" + instead + "[" + instead + instead + "\"");
  CHECK(label("a", "\xe2\x80\xae") == "a=\"" + instead + instead + instead + "\"");  // right-to-left override
  CHECK(label("a", "\xe2\x82") == "a=\"" + instead + instead + "\"");                // cut off
}

TEST_CASE("an_invalid_or_reserved_label_name_is_refused") {
  for (const char* const name : {"", "1a", "_a", "a-b", "a b", "\xc3\xa4", "le", "outcome", "end", "reason",
                                 "node", "status", "kind"}) {
    CAPTURE(name);
    try {
      const Prometheus metrics{{{name, "x"}}};
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::invalid_argument);
    }
  }
}

// ── the file ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("the_file_is_replaced_as_a_whole_and_no_temporary_file_is_left") {
  const detail::ProcessGroup group;
  const std::string folder = group.folder() + "/metrics";
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/a.prom";
  Prometheus metrics;
  metrics.write(path);
  CHECK(read_file(path) == metrics.text());
  std::filesystem::create_hard_link(path, group.folder() + "/before");
  report_all(metrics);
  metrics.write(path);
  CHECK(read_file(path) == metrics.text());
  CHECK_FALSE(read_file(group.folder() + "/before") ==
              metrics.text());  // readers of the old file are undisturbed
  CHECK(names_in(folder) == std::vector<std::string>{"a.prom"});
}

TEST_CASE("the_mode_of_the_file_follows_the_umask") {
  const detail::ProcessGroup group;
  const std::string path = group.folder() + "/a.prom";
  const mode_t before = ::umask(022);
  Prometheus{}.write(path);
  ::umask(before);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms{0644});
}

TEST_CASE("a_file_that_cannot_be_written_is_an_error_with_its_path_and_leaves_nothing") {
  const detail::ProcessGroup group;
  const std::string folder = group.folder() + "/metrics";
  std::filesystem::create_directories(folder + "/a.prom/full");
  try {
    Prometheus{}.write(folder + "/a.prom");
    FAIL("written over a folder");
  } catch (const std::system_error& error) {
    CHECK(std::string{error.what()}.starts_with(folder + "/a.prom"));
  }
  CHECK(names_in(folder) == std::vector<std::string>{"a.prom"});
  CHECK_THROWS_AS(Prometheus{}.write(group.folder() + "/none/a.prom"), std::system_error);
  CHECK_THROWS_AS(Prometheus{}.write(""), std::system_error);
}
