// Every outcome of every node, compared with a plain statement of what an extension must do.
//
// There are hundreds of thousands of scenarios: nothing is formatted unless one of them fails.
#include "redlock/core/lease/extension.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/enumeration.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::extension_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using Outcome = Extension::Outcome;

enum class Fate {
  extended,
  gone,
  in_error,
  lost,
  late,
  refused,
  extended_then_lost,
  other_type,
  unknown_script
};
const std::vector<Fate> all_fates{
    Fate::extended, Fate::gone,       Fate::in_error,           Fate::lost,          Fate::late,
    Fate::refused,  Fate::other_type, Fate::extended_then_lost, Fate::unknown_script};

std::string name(Fate fate) {
  static const char* const names[] = {"extended", "gone",          "error",      "lost",          "late",
                                      "refused",  "extended-lost", "other-type", "unknown-script"};
  return names[static_cast<std::size_t>(fate)];
}

std::size_t news(Fate fate) {
  if (fate == Fate::late || fate == Fate::refused) return 0;
  return fate == Fate::unknown_script || fate == Fate::extended_then_lost ? 2 : 1;
}

/// `none`: it is too early to tell.
enum class Verdict { none, extended, lost, in_doubt };

const char* text_of(Verdict verdict) {
  static const char* const texts[] = {"", "extended", "lost", "in doubt"};
  return texts[static_cast<std::size_t>(verdict)];
}

/// The verdict that follows from one letter per node: `?` nothing known yet, `e`xtended, `g`one, `-` will
/// never be known.
Verdict verdict_of(const std::string& known) {
  const auto count = [&known](char letter) { return std::count(known.begin(), known.end(), letter); };
  const auto nodes = static_cast<std::ptrdiff_t>(known.size());
  const auto majority = nodes / 2 + 1;
  // Where this many have lost our value, no majority can hold it.
  const auto minority_left = nodes - majority + 1;
  if (count('g') >= minority_left) return Verdict::lost;
  if (count('e') >= majority) return Verdict::extended;
  const bool may_be_extended = count('e') + count('?') >= majority;
  const bool may_be_lost = count('g') + count('?') >= minority_left;
  return may_be_extended || may_be_lost ? Verdict::none : Verdict::in_doubt;
}

Verdict verdict_of(const Extension& extension) {
  if (!extension.done()) return Verdict::none;
  if (extension.outcome() == Outcome::extended) return Verdict::extended;
  return extension.outcome() == Outcome::lost ? Verdict::lost : Verdict::in_doubt;
}

const Claim claim = example_claim();
const std::string extend_command = claim.extend_command();
const std::string extend_by_source_command = claim.extend_command(Form::source);
const std::string put_back_command = claim.put_back_command();

constexpr std::size_t most_nodes = 5;
/// One letter per command that was sent to each node.
using Letters = std::array<std::string, most_nodes>;

/// Plays one scenario, in which the lease would have lasted until 500 ms.
class Play {
 public:
  explicit Play(const Scenario<Fate>& scenario)
      : scenario_{scenario},
        nodes_{scenario.fates.size()},
        outbox_{nodes_},
        extension_{example_lease(500ms, claim), nodes_},
        known_(nodes_, '?') {
    for (NodeIndex node = 0; node < nodes_; ++node) expected_letters_[node] = 'E';
  }

  std::string complaint() {
    for (NodeIndex node = 0; node < nodes_; ++node)
      if (scenario_.fates[node] == Fate::refused) {
        outbox_.refuse(node);
        known_[node] = '-';
      }
    extension_.start(at(0ms), outbox_);
    compare("the start");
    for (const NodeIndex node : scenario_.arrivals) {
      happen(node);
      compare("news of node ", node);
    }
    std::replace(known_.begin(), known_.end(), '?', '-');
    extension_.timed_out(at(50ms), outbox_);
    compare("the deadline");
    for (NodeIndex node = 0; node < nodes_; ++node)
      if (scenario_.fates[node] == Fate::late) answer(node, extended, number(1));
    compare("the late answers");
    if (expected_ == Verdict::none) note("no verdict");
    if (extension_.lease().deadline() != (expected_ == Verdict::extended ? at(988ms) : at(500ms)))
      note("another deadline");
    return complaint_;
  }

 private:
  void happen(NodeIndex node) {
    const Fate fate = scenario_.fates[node];
    const bool again = heard_[node]++ > 0;
    if (fate == Fate::lost || (fate == Fate::extended_then_lost && again)) {
      known_[node] = '-';
      extension_.disconnected(node, lost_connection(), at(1ms), outbox_);
    } else if (fate == Fate::unknown_script && !again) {
      if (expected_ == Verdict::none) expected_letters_[node] += 'e';
      answer(node, extended, noscript());
    } else if (fate == Fate::unknown_script) {
      known_[node] = 'e';
      answer(node, extended_again, number(1));
    } else if (fate == Fate::extended || fate == Fate::extended_then_lost) {
      known_[node] = 'e';
      answer(node, extended, number(1));
    } else {
      known_[node] = fate == Fate::in_error ? '-' : 'g';
      if (expected_ == Verdict::extended && known_[node] == 'g') expected_letters_[node] += 'B';
      answer(node, extended,
             fate == Fate::in_error ? loading()
             : fate == Fate::gone   ? number(0)
                                    : wrongtype());
    }
  }
  void answer(NodeIndex node, Step step, const Reply& reply) {
    extension_.answered(node, step, reply, at(1ms), outbox_);
  }

  /// After this event; `which` is the node that it is about.
  void compare(const char* event, std::optional<NodeIndex> which = std::nullopt) {
    // The first verdict stands. An extension puts back what is gone; after a loss nothing is sent.
    if (expected_ == Verdict::none) {
      expected_ = verdict_of(known_);
      for (NodeIndex node = 0; node < nodes_; ++node)
        if (expected_ == Verdict::extended && known_[node] == 'g') expected_letters_[node] += 'B';
    }
    for (const Sent& one : outbox_.take()) letters_[one.node] += letter(one);
    const Verdict verdict = verdict_of(extension_);
    if (verdict == expected_ && letters_ == expected_letters_) return;
    const std::string after = "after " + (event + (which ? std::to_string(*which) : std::string{}));
    if (verdict != expected_)
      note(after + " '" + text_of(verdict) + "' instead of '" + text_of(expected_) + "'");
    if (letters_ != expected_letters_) note(after + " other commands were sent");
  }

  /// `E`xtend, `e`xtend with the source, put `B`ack.
  [[nodiscard]] static char letter(const Sent& sent) {
    if (sent.command == extend_command)
      return sent.options.step == extended && !sent.options.is_release ? 'E' : '#';
    if (sent.command == extend_by_source_command) return sent.options.step == extended_again ? 'e' : '#';
    const bool puts_back = sent.command == put_back_command && sent.options.step == put_back;
    return puts_back && !sent.options.is_release ? 'B' : '#';
  }
  void note(const std::string& what) {
    if (complaint_.empty()) complaint_ = told(scenario_, name) + ": " + what;
  }

  const Scenario<Fate>& scenario_;
  std::size_t nodes_;
  RecordingOutbox outbox_;
  Extension extension_;
  std::string known_;
  std::array<int, most_nodes> heard_{};
  Letters letters_;
  Letters expected_letters_;
  Verdict expected_ = Verdict::none;
  std::string complaint_;
};

std::string complaint_about(const Scenario<Fate>& scenario) { return Play{scenario}.complaint(); }

/// All scenarios of five nodes in which the last one has this fate. All fates in one test case would take minutes
/// under a sanitizer on a busy machine.
void explore_five(Fate fate_of_the_last) {
  CHECK(explore_with_last(fate_of_the_last, 5, all_fates, news, complaint_about) == orders_of_many * 6'561);
}

}  // namespace

TEST_CASE("an_extension_of_up_to_three_nodes_is_decided_as_early_as_possible") {
  CHECK(explore(1, all_fates, news, complaint_about) == 9);
  CHECK(explore(2, all_fates, news, complaint_about) > 81);
  CHECK(explore(3, all_fates, news, complaint_about) > 729);
}

// Each of the nine fates of the last node.

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_extends") {
  explore_five(Fate::extended);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_has_no_copy") {
  explore_five(Fate::gone);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_answers_with_an_error") {
  explore_five(Fate::in_error);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_disconnects") {
  explore_five(Fate::lost);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_answers_late") {
  explore_five(Fate::late);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_is_unreachable") {
  explore_five(Fate::refused);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_has_another_type") {
  explore_five(Fate::other_type);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_extends_and_disconnects") {
  explore_five(Fate::extended_then_lost);
}

TEST_CASE("an_extension_of_five_nodes_is_decided_as_early_as_possible_if_the_last_does_not_know_the_script") {
  explore_five(Fate::unknown_script);
}
