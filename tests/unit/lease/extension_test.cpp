// Every outcome of every node, compared with a plain statement of what an extension has to do.
#include "redlock/core/lease/extension.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/enumeration.hpp"
#include "unit/support/recorder.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using Outcome = Extension::Outcome;

enum : Step { extended, extended_again, released, released_again, put_back };

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

/// What an extension has to tell, from one letter per node: `?` nothing known yet, `e`xtended, `g`one, `-`
/// will never be known. Empty: it is too early to tell.
std::string verdict_of(const std::string& known) {
  const auto count = [&known](char letter) { return std::count(known.begin(), known.end(), letter); };
  const auto nodes = static_cast<std::ptrdiff_t>(known.size());
  const auto majority = nodes / 2 + 1;
  // Where this many have lost our value, no majority can hold it.
  const auto minority_left = nodes - majority + 1;
  if (count('g') >= minority_left) return "lost";
  if (count('e') >= majority) return "extended";
  const bool may_be_extended = count('e') + count('?') >= majority;
  const bool may_be_lost = count('g') + count('?') >= minority_left;
  return may_be_extended || may_be_lost ? "" : "in doubt";
}

std::string told(const Extension& extension) {
  if (!extension.done()) return "";
  if (extension.outcome() == Outcome::extended) return "extended";
  return extension.outcome() == Outcome::lost ? "lost" : "in doubt";
}

/// Plays one scenario, in which the lease would have lasted until 500 ms.
class Play {
 public:
  explicit Play(const Scenario<Fate>& scenario)
      : scenario_{scenario},
        nodes_{scenario.fates.size()},
        outbox_{nodes_},
        extension_{example_tenure(500ms), nodes_},
        known_(nodes_, '?'),
        heard_(nodes_, 0),
        sent_(nodes_, "E") {}

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
      compare("news of node " + std::to_string(node));
    }
    std::replace(known_.begin(), known_.end(), '?', '-');
    extension_.timed_out(at(50ms), outbox_);
    compare("the deadline");
    for (NodeIndex node = 0; node < nodes_; ++node)
      if (scenario_.fates[node] == Fate::late) answer(node, extended, number(1));
    compare("the late answers");
    if (expected_.empty()) note("no verdict");
    if (extension_.lease().deadline() != (expected_ == "extended" ? at(988ms) : at(500ms)))
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
      if (expected_.empty()) sent_[node] += "e";
      answer(node, extended, noscript());
    } else if (fate == Fate::unknown_script) {
      known_[node] = 'e';
      answer(node, extended_again, number(1));
    } else if (fate == Fate::extended || fate == Fate::extended_then_lost) {
      known_[node] = 'e';
      answer(node, extended, number(1));
    } else {
      known_[node] = fate == Fate::in_error ? '-' : 'g';
      if (expected_ == "extended" && known_[node] == 'g') sent_[node] += "B";
      answer(node, extended,
             fate == Fate::in_error ? loading()
             : fate == Fate::gone   ? number(0)
                                    : wrongtype());
    }
  }
  void answer(NodeIndex node, Step step, const Reply& reply) {
    extension_.answered(node, step, reply, at(1ms), outbox_);
  }

  void compare(const std::string& after) {
    // The first verdict stands. A loss sends one release to everybody; an extension puts back what is gone.
    if (expected_.empty()) {
      expected_ = verdict_of(known_);
      if (expected_ == "lost")
        for (std::string& sent : sent_) sent += "R";
      if (expected_ == "extended")
        for (NodeIndex node = 0; node < nodes_; ++node) sent_[node] += known_[node] == 'g' ? "B" : "";
    }
    std::vector<std::string> sent(nodes_);
    for (const Sent& one : outbox_.sent()) sent[one.node] += letter(one);
    if (told(extension_) != expected_)
      note("after " + after + " '" + told(extension_) + "' instead of '" + expected_ + "'");
    if (sent != sent_) note("after " + after + " other commands were sent");
  }

  /// `E`xtend, `e`xtend with the source, `R`elease, put `B`ack.
  [[nodiscard]] char letter(const Sent& sent) const {
    if (sent.command == extend_) return sent.options.step == extended && !sent.options.is_release ? 'E' : '#';
    if (sent.command == extend_whole_) return sent.options.step == extended_again ? 'e' : '#';
    if (sent.command == put_back_)
      return sent.options.step == put_back && !sent.options.is_release ? 'B' : '#';
    return sent.command == release_ && sent.options.is_release ? 'R' : '#';
  }
  void note(const std::string& what) {
    if (complaint_.empty()) complaint_ = told(scenario_, name) + ": " + what;
  }

  const Scenario<Fate>& scenario_;
  std::size_t nodes_;
  Recorder outbox_;
  Extension extension_;
  std::string known_;
  std::vector<int> heard_;
  std::vector<std::string> sent_;
  std::string expected_;
  std::string complaint_;
  std::string extend_ = example_claim().extend_command();
  std::string extend_whole_ = example_claim().extend_command(Form::source);
  std::string release_ = example_claim().release_command();
  std::string put_back_ = example_claim().put_back_command();
};

std::string complaint_about(const Scenario<Fate>& scenario) { return Play{scenario}.complaint(); }

}  // namespace

TEST_CASE("an_extension_tells_the_truth_as_early_as_it_can_for_every_outcome_of_every_node") {
  CHECK(explore(1, all_fates, news, complaint_about) == 9);
  CHECK(explore(2, all_fates, news, complaint_about) > 81);
  CHECK(explore(3, all_fates, news, complaint_about) > 729);
  CHECK(explore(5, all_fates, news, complaint_about) == std::size_t{4} * 59'049);
}
