// Logs that are written by hand: each rule, kept and broken.
#include "chaos/judge/verdict.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace redlock::chaos;
using redlock::simulation::Profile;
using redlock::simulation::Rule;

constexpr Instant s = 1'000'000'000;

/// A case of two clients or more, whose logs the test writes.
struct Story {
  explicit Story(Profile profile = Profile::within, std::size_t clients = 2) {
    given.profile = profile;
    given.logs.resize(clients);
    given.end = 100 * s;
  }
  Story& add(int client, Instant at, Entry::What what, std::uint64_t number,
             std::vector<std::string> words = {}) {
    given.logs[static_cast<std::size_t>(client)].push_back(
        {.at = at, .what = what, .client = client, .number = number, .words = std::move(words)});
    return *this;
  }
  Story& call(int client, Instant at, std::uint64_t number) {
    return add(client, at, Entry::What::call, number, {"r"});
  }
  Story& hold(int client, Instant at, std::uint64_t number, int token, Instant deadline) {
    return add(client, at, Entry::What::hold, number, {"r", std::to_string(token), std::to_string(deadline)});
  }
  Story& read(int client, Instant at, int token, Instant deadline, const std::string& how = "shared") {
    return add(client, at, Entry::What::hold, 1, {"r", std::to_string(token), std::to_string(deadline), how});
  }
  [[nodiscard]] std::optional<Rule> broken() const {
    const Verdict verdict = judge(given);
    return verdict.violation ? std::optional{verdict.violation->rule} : std::nullopt;
  }

  Case given;
};

}  // namespace

TEST_CASE("a_log_is_read_as_it_was_written_and_its_unfinished_line_is_left_out") {
  const redlock::testing::TempFolder folder;
  const std::string path = folder.path() / "log";
  {
    Log log{path};
    log.add(5, Entry::What::begin, 77);
    log.add(6, Entry::What::hold, 1, "r 9 20");
    log.add(7, Entry::What::begin, 78);
  }
  std::ofstream{path, std::ios::app} << "8 call 2";
  const auto entries = read_log(path, 3);
  REQUIRE(entries.size() == 3);
  CHECK(entries[1].at == 6);
  CHECK(entries[1].what == Entry::What::hold);
  CHECK(entries[1].client == 3);
  CHECK(entries[1].number == 1);
  CHECK(entries[1].words == std::vector<std::string>{"r", "9", "20"});
  CHECK(entries[0].life == 1);
  CHECK(entries[2].life == 2);
  std::ofstream{path, std::ios::app} << "\n9 nonsense 1\n";
  CHECK_THROWS_AS(read_log(path, 3), std::runtime_error);
}

TEST_CASE("chaos_judge_two_holders_break_exclusion_within_the_assumptions_and_are_counted_beyond_them") {
  const auto story = [](Profile profile, Instant second) {
    return Story{profile}
        .call(0, 0, 1)
        .hold(0, 1 * s, 1, 5, 3 * s)
        .call(1, 2 * s, 1)
        .hold(1, second, 1, 6, 5 * s);
  };
  CHECK_FALSE(story(Profile::within, 3 * s).broken());
  CHECK(story(Profile::within, 3 * s - 1).broken() == Rule::exclusion);
  CHECK_FALSE(story(Profile::beyond, 3 * s - 1).broken());
  CHECK(judge(story(Profile::beyond, 3 * s - 1).given).figures.overlaps == 1);
}

TEST_CASE("chaos_judge_a_lease_ends_with_its_release_but_not_with_the_report_of_its_loss_or_its_holder") {
  const auto story = [] { return Story{}.call(0, 0, 1).hold(0, 1 * s, 1, 5, 9 * s); };
  CHECK_FALSE(story().add(0, 2 * s, Entry::What::end, 1).hold(1, 3 * s, 1, 6, 9 * s).broken());
  CHECK(story().add(0, 2 * s, Entry::What::lost, 1).hold(1, 3 * s, 1, 6, 9 * s).broken() == Rule::exclusion);
  CHECK(story().add(0, 2 * s, Entry::What::begin, 4).hold(1, 3 * s, 1, 6, 9 * s).broken() == Rule::exclusion);
}

TEST_CASE("chaos_judge_an_extension_moves_the_deadline_and_none_comes_after_a_loss") {
  const auto story = [] { return Story{}.call(0, 0, 1).hold(0, 1 * s, 1, 5, 3 * s); };
  CHECK(story()
            .add(0, 2 * s, Entry::What::extend, 1, {std::to_string(6 * s)})
            .hold(1, 4 * s, 1, 6, 9 * s)
            .broken() == Rule::exclusion);
  CHECK(story()
            .add(0, 2 * s, Entry::What::lost, 1)
            .add(0, 2 * s + 1, Entry::What::extend, 1, {std::to_string(6 * s)})
            .broken() == Rule::honesty);
}

TEST_CASE("chaos_judge_a_holder_that_was_paused_until_its_deadline_never_relied_on_its_lease") {
  // It writes at five seconds what it had until three.
  Story story;
  story.call(0, 0, 1).hold(0, 5 * s, 1, 5, 3 * s).call(1, 3 * s, 1).hold(1, 4 * s, 1, 6, 9 * s);
  CHECK_FALSE(story.broken());
  CHECK(judge(story.given).late == 1);
}

TEST_CASE("chaos_judge_a_loss_before_the_call_returned_another_lease_is_not_that_leases") {
  Story story;
  story.call(0, 0, 1).add(0, 2 * s, Entry::What::lost, 1).hold(0, 6 * s, 1, 7, 7 * s);
  CHECK_FALSE(story.call(1, 3 * s, 1).hold(1, 4 * s, 1, 6, 5 * s).broken());
}

TEST_CASE("chaos_judge_a_lease_whose_loss_its_holder_learned_before_its_grant_began_before_that") {
  const auto story = [] {
    return Story{}.call(0, 0, 1).add(0, 3 * s, Entry::What::lost, 1).hold(0, 6 * s, 1, 5, 4 * s);
  };
  CHECK(story().call(1, 1 * s, 1).hold(1, 2 * s, 1, 6, 9 * s).broken() == Rule::exclusion);
}

TEST_CASE("chaos_judge_a_command_that_works_while_another_one_holds_the_lock_breaks_exclusion") {
  const auto story = [](Instant last_sign) {
    return Story{}
        .add(0, 1 * s, Entry::What::hold, 1, {"r", "5", std::to_string(2 * s), "signs"})
        .add(0, last_sign, Entry::What::alive, 1)
        .hold(1, 4 * s, 1, 6, 9 * s);
  };
  CHECK_FALSE(story(3 * s).broken());
  CHECK(story(5 * s).broken() == Rule::exclusion);
}

TEST_CASE("chaos_judge_readers_hold_the_lock_together_with_one_token_and_no_writer_beside_them") {
  const auto story = [] {
    return Story{Profile::within, 3}.read(0, 1 * s, 5, 3 * s).read(1, 2 * s, 5, 4 * s);
  };
  CHECK_FALSE(story().broken());
  CHECK(judge(story().given).figures.shared == 2);
  CHECK_FALSE(story().hold(2, 4 * s, 1, 6, 9 * s).broken());
  CHECK(story().hold(2, 4 * s - 1, 1, 6, 9 * s).broken() == Rule::exclusion);
  CHECK(story().hold(2, 4 * s, 1, 5, 9 * s).broken() == Rule::tokens);
}

TEST_CASE("chaos_judge_no_writer_comes_between_a_writer_and_the_reader_that_it_becomes") {
  const auto story = [](Instant between) {
    return Story{}
        .hold(1, between, 1, 5, between + s / 2)
        .call(0, 2 * s, 1)
        .read(0, 3 * s, 6, 9 * s, "downgraded");
  };
  CHECK_FALSE(story(1 * s).broken());
  CHECK(judge(story(1 * s).given).figures.downgrades == 1);
  CHECK(story(2 * s).broken() == Rule::exclusion);
}

TEST_CASE("chaos_judge_a_token_that_is_issued_twice_or_after_a_greater_one_breaks_tokens") {
  const auto story = [](int second, Instant called) {
    return Story{Profile::beyond}
        .call(0, 0, 1)
        .hold(0, 1 * s, 1, 5, 2 * s)
        .call(1, called, 1)
        .hold(1, 3 * s, 1, second, 4 * s);
  };
  CHECK_FALSE(story(6, 2 * s).broken());
  CHECK(story(5, 2 * s).broken() == Rule::tokens);
  CHECK(story(4, 2 * s).broken() == Rule::tokens);
  CHECK_FALSE(story(4, s / 2).broken());  // both calls were under way
  CHECK(story(0, 2 * s).broken() == Rule::tokens);
}

TEST_CASE("chaos_judge_a_write_that_the_fenced_store_loses_breaks_fence_and_one_of_its_twin_does_not") {
  Story story{Profile::beyond};
  story.given.lost_unfenced = 3;
  CHECK_FALSE(story.broken());
  CHECK(judge(story.given).figures.writes_lost_unfenced == 3);
  story.given.lost_fenced = 1;
  CHECK(story.broken() == Rule::fence);
}

TEST_CASE("chaos_judge_a_lost_write_breaks_exclusion_if_all_who_write_keep_their_deadlines") {
  Story story;
  story.given.keeps_deadlines = true;
  CHECK_FALSE(story.broken());
  story.given.lost_unfenced = 1;
  CHECK(story.broken() == Rule::exclusion);
}

TEST_CASE("chaos_judge_a_client_that_gets_no_lock_after_all_faults_breaks_liveness") {
  Story story;
  story.given.healed = 10 * s;
  story.hold(0, 11 * s, 1, 5, 12 * s).add(0, 11 * s + 1, Entry::What::end, 1);
  CHECK(story.broken() == Rule::liveness);
  story.hold(1, 12 * s, 1, 6, 13 * s);
  CHECK_FALSE(story.broken());
}

TEST_CASE("chaos_judge_keys_and_descriptors_that_are_left_break_quiescence") {
  Story keys{Profile::within, 0};
  keys.given.healed = 10 * s;
  CHECK_FALSE(keys.broken());
  keys.given.left = {"r on node 1"};
  CHECK(keys.broken() == Rule::quiescence);
  Story descriptors;
  descriptors.given.most_open = 20;
  descriptors.add(0, 1 * s, Entry::What::open, 20);
  CHECK_FALSE(descriptors.broken());
  descriptors.add(0, 2 * s, Entry::What::open, 21);
  CHECK(descriptors.broken() == Rule::quiescence);
}

TEST_CASE(
    "chaos_judge_a_call_that_is_served_before_one_that_has_stood_in_line_breaks_order_once_lines_are_calm") {
  const auto story = [](Instant calm, Instant second_call) {
    Story told;
    told.given.waiting = {0, 1};
    told.given.calm = calm;
    told.call(0, 10 * s, 1).call(1, second_call, 1).hold(1, 20 * s, 1, 5, 21 * s);
    return told.hold(0, 22 * s, 1, 6, 23 * s).broken();
  };
  CHECK(story(5 * s, 14 * s) == Rule::order);
  CHECK_FALSE(story(5 * s, 11 * s));   // the first one may not have had its place yet
  CHECK_FALSE(story(15 * s, 14 * s));  // lines were not in order yet
}

TEST_CASE("chaos_judge_memory_or_descriptors_that_keep_growing_break_quiescence") {
  const auto broken = [](std::int64_t memory_each_second, int descriptors_each_minute) {
    Story story;
    story.given.footprints.resize(2);
    for (int second = 0; second < 600; ++second)
      story.given.footprints[1].push_back(
          {.at = second * s,
           .memory = 3000 + std::min(second, 100) * 50 + second * memory_each_second + (second % 7) * 400,
           .descriptors = 13 + second / 60 * descriptors_each_minute + (second % 50 == 0 ? 20 : 0)});
    return story.broken();
  };
  CHECK_FALSE(broken(0, 0));  // filled at the begin, and peaks
  CHECK(broken(5, 0) == Rule::quiescence);
  CHECK(broken(0, 1) == Rule::quiescence);
}

TEST_CASE("the_footprint_of_a_process_has_its_memory_and_its_descriptors_and_that_of_no_process_is_empty") {
  const auto before = footprint_of(::getpid());
  std::vector<char> memory(8'000'000, 'x');
  const std::ifstream one_more{"/dev/null"};
  const auto after = footprint_of(::getpid());
  REQUIRE(before);
  REQUIRE(after);
  CHECK(after->memory > before->memory + 7000);
  CHECK(after->descriptors == before->descriptors + 1);
  CHECK(memory.back() == 'x');
  CHECK_FALSE(footprint_of(0));
}
