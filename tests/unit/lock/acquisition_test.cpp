// Every outcome of every node, compared with a plain statement of what an attempt has to do.
#include "redlock/core/lock/acquisition.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/sanitized.hpp"
#include "unit/support/enumeration.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using Purpose = Acquisition::Purpose;

enum class Fate {
  granted,
  denied,
  in_error,
  lost,               // before it answers
  late,               // answers after the deadline
  refused,            // nothing can be sent to it
  granted_then_lost,  // two pieces of news
  denied_then_lost,
  other_type,  // denies, and the release tells why: the key is not a string
  forbidden,
};
const std::vector<Fate> plain_fates{Fate::granted, Fate::denied,  Fate::in_error,         Fate::lost,
                                    Fate::late,    Fate::refused, Fate::granted_then_lost};
const std::vector<Fate> all_fates{
    Fate::granted,    Fate::denied,   Fate::in_error,          Fate::lost,
    Fate::late,       Fate::refused,  Fate::granted_then_lost, Fate::denied_then_lost,
    Fate::other_type, Fate::forbidden};

std::string name(Fate fate) {
  static const char* const names[] = {"granted", "denied",       "error",       "lost",       "late",
                                      "refused", "granted-lost", "denied-lost", "other-type", "forbidden"};
  return names[static_cast<std::size_t>(fate)];
}

std::size_t news(Fate fate) {
  if (fate == Fate::late || fate == Fate::refused) return 0;
  return fate == Fate::granted_then_lost || fate == Fate::denied_then_lost ? 2 : 1;
}

/// When the answers to the releases come.
enum class Pace { at_once, after_all_others, after_the_deadline };

/// What an attempt has to do, from what is known. One letter per node for what is known: `?` nothing yet,
/// `y` granted, `n` denied and nobody knows by what, `N` denied for good, `-` will not vote, `!` misconfigured.
/// One letter per command sent: `S`et, `P`TTL, `R`elease.
struct Specification {
  Specification(std::size_t nodes, Purpose purpose)
      : asks_ttl{purpose == Purpose::wait}, known(nodes, '?'), sent(nodes, "S") {}

  bool asks_ttl;
  std::string known;
  std::vector<std::string> sent;
  std::string verdict;
  bool given_back = false;

  [[nodiscard]] std::size_t count(std::string_view letters) const {
    return static_cast<std::size_t>(std::count_if(known.begin(), known.end(), [letters](char known_of) {
      return letters.find(known_of) != letters.npos;
    }));
  }

  void learn(NodeIndex node, char news) {
    if (!verdict.empty()) return;
    known[node] = news;
    judge();
  }
  void lose(NodeIndex node) {
    const char before = known[node];
    learn(node, before == 'n' ? 'N' : before == '?' || before == 'y' ? '-' : before);
  }
  void time_out() {
    if (!verdict.empty()) return;
    std::replace(known.begin(), known.end(), '?', '-');
    std::replace(known.begin(), known.end(), 'n', 'N');
    judge();
  }
  void judge() {
    const std::size_t majority = known.size() / 2 + 1;
    if (!given_back && count("y") >= majority) {
      verdict = "granted";
    } else if (count("y?") < majority) {
      give_back();
      if (count("!") >= majority)
        verdict = "misconfigured";
      else if (count("yNn?") < majority && count("?") == 0)
        verdict = "no quorum";
      else if (count("yNn") >= majority && count("n") == 0)
        verdict = "held";
    }
  }
  void give_back() {
    if (given_back) return;
    given_back = true;
    for (std::size_t node = 0; node < known.size(); ++node) {
      const bool denied = known[node] == 'n' || known[node] == 'N';
      sent[node] += asks_ttl && denied ? "PR" : "R";
    }
  }
};

const std::string set_command = example_claim().set_command();
const std::string release_command = example_claim().release_command();
const std::string ask_ttl_command = command({"PTTL", "key"});

/// Plays one scenario to the attempt and to the specification, and compares them after every piece of news.
class Play {
 public:
  Play(const Scenario<Fate>& scenario, Purpose purpose, Pace pace)
      : scenario_{scenario},
        pace_{pace},
        attempt_{example_claim(), scenario.fates.size(), purpose},
        specification_{scenario.fates.size(), purpose},
        outbox_{scenario.fates.size()},
        sent_(scenario.fates.size()),
        heard_(scenario.fates.size(), 0),
        release_answered_(scenario.fates.size(), false) {}

  std::string complaint() {
    begin();
    for (const NodeIndex node : scenario_.arrivals) {
      happen(node);
      if (pace_ == Pace::at_once) answer_releases();
    }
    if (pace_ != Pace::after_the_deadline) answer_releases();
    specification_.time_out();
    attempt_.timed_out(tick(), outbox_);
    compare("the deadline");
    if (!attempt_.done()) note("not done after the deadline");
    for (NodeIndex node = 0; node < scenario_.fates.size(); ++node)
      if (scenario_.fates[node] == Fate::late) answer(node, ok());
    compare("the late grants");
    answer_releases();
    return complaint_;
  }

 private:
  enum : Step { asked, timed, released };

  void begin() {
    for (NodeIndex node = 0; node < scenario_.fates.size(); ++node)
      if (scenario_.fates[node] == Fate::refused) {
        outbox_.refuse(node);
        specification_.known[node] = '-';
      }
    attempt_.start(tick(), outbox_);
    specification_.judge();
    compare("the start");
  }

  void happen(NodeIndex node) {
    const Fate fate = scenario_.fates[node];
    const bool again = heard_[node]++ > 0;
    if (fate == Fate::lost || again) {
      outbox_.refuse(node);
      release_answered_[node] = true;
      specification_.lose(node);
      attempt_.disconnected(node, lost_connection(), tick(), outbox_);
    } else if (fate == Fate::granted || fate == Fate::granted_then_lost) {
      specification_.learn(node, 'y');
      answer(node, ok());
    } else if (fate == Fate::in_error) {
      specification_.learn(node, '-');
      answer(node, loading());
    } else if (fate == Fate::forbidden) {
      specification_.learn(node, '!');
      answer(node, noauth());
    } else {
      // A denial that comes behind the release is explained by the release's answer, as any other.
      specification_.learn(node, 'n');
      answer(node, nil());
    }
    compare("news of node ", node);
  }

  void answer(NodeIndex node, const Reply& reply) { attempt_.answered(node, asked, reply, tick(), outbox_); }

  /// The releases whose SET was answered before them, once each.
  void answer_releases() {
    for (NodeIndex node = 0; node < scenario_.fates.size(); ++node) {
      const Fate fate = scenario_.fates[node];
      const bool behind_an_answer = heard_[node] > 0 || (fate == Fate::late && attempt_.done());
      if (!behind_an_answer || release_answered_[node] || sent_[node].find('R') == std::string::npos)
        continue;
      release_answered_[node] = true;
      if (sent_[node].find('P') != std::string::npos)
        attempt_.answered(node, timed, number(700), tick(), outbox_);
      compare("the PTTL of node ", node);
      const bool denied = specification_.known[node] == 'n';
      if (denied) specification_.learn(node, fate == Fate::other_type ? '!' : 'N');
      const Reply reply = fate == Fate::other_type ? wrongtype() : number(denied ? 0 : 1);
      attempt_.answered(node, released, reply, tick(), outbox_);
      compare("the release of node ", node);
    }
  }

  /// Formats nothing unless something is wrong: there are more than a hundred thousand scenarios.
  void compare(const char* event, std::optional<NodeIndex> which = std::nullopt) {
    for (const Sent& sent : outbox_.take()) sent_[sent.node] += letter(sent);
    marks_.clear();
    for (NodeIndex node = 0; node < scenario_.fates.size(); ++node) marks_ += mark(node);
    known_ = specification_.known;
    std::replace(known_.begin(), known_.end(), 'N', 'n');
    std::replace(known_.begin(), known_.end(), '!', '-');
    if (specification_.verdict == verdict() && sent_ == specification_.sent && marks_ == known_) return;
    const std::string after = "after " + (event + (which ? std::to_string(*which) : std::string{}));
    if (specification_.verdict != verdict())
      note(after + " '" + verdict() + "' instead of '" + specification_.verdict + "'");
    if (sent_ != specification_.sent) note(after + " other commands were sent");
    if (marks_ != known_) note(after + " votes " + marks_ + " instead of " + known_);
  }

  [[nodiscard]] const char* verdict() const {
    if (!attempt_.done()) return "";
    if (attempt_.granted()) return "granted";
    if (attempt_.failure() == Errc::held) return "held";
    if (attempt_.failure() == Errc::no_quorum) return "no quorum";
    return attempt_.failure() == Errc::misconfigured ? "misconfigured" : "something else";
  }
  [[nodiscard]] char mark(NodeIndex node) const {
    if (attempt_.tally().is(node, Tally::Mark::pending)) return '?';
    if (attempt_.tally().is(node, Tally::Mark::yes)) return 'y';
    return attempt_.tally().is(node, Tally::Mark::no) ? 'n' : '-';
  }
  [[nodiscard]] char letter(const Sent& sent) const {
    if (sent.options.step == asked && sent.command == set_command) return 'S';
    if (sent.options.step == timed && sent.command == ask_ttl_command) return 'P';
    return sent.options.step == released && sent.command == release_command ? 'R' : '#';
  }
  void note(const std::string& what) {
    if (complaint_.empty()) complaint_ = told(scenario_, name) + ": " + what;
  }
  Time tick() { return at(1ms * ticks_++); }

  const Scenario<Fate>& scenario_;
  Pace pace_;
  Acquisition attempt_;
  Specification specification_;
  RecordingOutbox outbox_;
  std::vector<std::string> sent_;
  std::vector<int> heard_;
  std::vector<bool> release_answered_;
  std::string marks_;
  std::string known_;
  std::string complaint_;
  int ticks_ = 0;
};

constexpr Pace paces[] = {Pace::at_once, Pace::after_all_others, Pace::after_the_deadline};

std::string in_every_way(const Scenario<Fate>& scenario) {
  for (const Purpose purpose : {Purpose::try_once, Purpose::wait})
    for (const Pace pace : paces)
      if (std::string text = Play{scenario, purpose, pace}.complaint(); !text.empty()) return text;
  return {};
}

/// In the next of the six ways: another one for each order, and for the same order of the next vector.
std::string in_one_way(const Scenario<Fate>& scenario) {
  const std::size_t way = (scenario.number + scenario.number / 4) % 6;
  const Purpose purpose = way < 3 ? Purpose::try_once : Purpose::wait;
  return Play{scenario, purpose, paces[way % 3]}.complaint();
}

/// All scenarios of five nodes in which the last one has this fate. All fates in one test case would take minutes
/// under a sanitizer on a busy machine.
void explore_five(Fate fate_of_the_last) {
  CHECK(explore_with_last(fate_of_the_last, 5, plain_fates, news, in_one_way) == orders_of_many * 2'401);
}

}  // namespace

TEST_CASE("an_attempt_at_one_node_is_decided_by_that_node") {
  CHECK(explore(1, all_fates, news, in_every_way) == 10);
}

TEST_CASE("an_attempt_at_three_nodes_is_decided_by_the_first_reply_that_can_in_every_order") {
  // A sanitizer looks for other errors than a wrong decision.
  CHECK(explore(3, all_fates, news, sanitized ? in_one_way : in_every_way) == 7'880);
}

// Each of the seven fates of the last node.

TEST_CASE("an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_grants") {
  explore_five(Fate::granted);
}

TEST_CASE("an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_denies") {
  explore_five(Fate::denied);
}

TEST_CASE(
    "an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_answers_with_an_error") {
  explore_five(Fate::in_error);
}

TEST_CASE("an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_disconnects") {
  explore_five(Fate::lost);
}

TEST_CASE("an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_answers_late") {
  explore_five(Fate::late);
}

TEST_CASE("an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_is_unreachable") {
  explore_five(Fate::refused);
}

TEST_CASE(
    "an_attempt_at_five_nodes_is_decided_by_the_first_reply_that_can_if_the_last_grants_and_disconnects") {
  explore_five(Fate::granted_then_lost);
}
