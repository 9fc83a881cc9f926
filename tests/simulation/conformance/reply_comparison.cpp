#include "simulation/conformance/reply_comparison.hpp"

#include <algorithm>
#include <cstdlib>

#include "simulation/server/readable.hpp"

namespace redlock::simulation {
namespace {

/// The first word of an error.
std::string_view code(std::string_view error) { return error.substr(0, error.find(' ')); }

/// A server has the members of a set in any order.
bool names_members(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) { return is_word(word, "smembers"); });
}

Reply sorted(Reply reply) {
  for (Reply& element : reply.elements) element = sorted(std::move(element));
  std::ranges::sort(reply.elements, {}, [](const Reply& element) { return readable(element); });
  return reply;
}

/// Replies to INFO are compared only for having a run id: the simulated server has few other fields.
bool has_run_id(const Reply& reply) { return reply.text.find("run_id:") != std::string::npos; }

}  // namespace

std::vector<std::string> scores_of(const std::string& key) {
  return {"ZRANGE", key, "0", "-1", "WITHSCORES"};
}

std::string ReplyComparison::differs(const Operation& operation, const Observation& real) {
  const Server before = ours_;
  const Reply first = execute(operation.words, real.before_us);
  bool found = same(operation, first, real.reply) && stores_same_times(operation, real);
  for (std::int64_t at = real.before_us + 1; !found && at <= real.after_us; ++at) {
    ours_ = before;
    found = same(operation, execute(operation.words, at), real.reply) && stores_same_times(operation, real);
  }
  if (!found)
    return "real server:      " + readable(real.reply) + "\nsimulated server: " + readable(first) + "\n" +
           (operation.timed.empty() ? "" : "(or the scores differ that they stored)\n");
  for (std::size_t i = 0; i < real.expiries.size(); ++i)
    if (auto what = differing_expiry(operation.expiring[i], real, real.expiries[i]); !what.empty())
      return what;
  return {};
}

bool ReplyComparison::stores_same_times(const Operation& operation, const Observation& real) {
  for (std::size_t i = 0; i < real.scores.size(); ++i)
    if (!same(execute(scores_of(operation.timed[i]), real.after_us), real.scores[i])) return false;
  return true;
}

std::string ReplyComparison::differs(const std::string& what, const std::vector<Reply>& ours,
                                     const std::vector<Reply>& real) const {
  const auto is_same = [this](const Reply& a, const Reply& b) { return same(a, b); };
  if (std::equal(ours.begin(), ours.end(), real.begin(), real.end(), is_same)) return {};
  std::string text = what + "\n";
  for (const Reply& reply : real) text += "real server:      " + readable(reply) + "\n";
  for (const Reply& reply : ours) text += "simulated server: " + readable(reply) + "\n";
  return text;
}

/// The expiry may differ by as much as the time of the operation is uncertain. Afterwards both servers have the same expiry.
std::string ReplyComparison::differing_expiry(const std::string& key, const Observation& real,
                                              const Reply& expiry) {
  const Reply ours = execute({"PEXPIRETIME", key}, real.after_us);
  if (same(ours, expiry)) return {};
  const std::int64_t between_ms = real.after_us / 1000 - real.before_us / 1000;
  if (ours.integer < 0 || expiry.integer < 0 || std::abs(ours.integer - expiry.integer) > between_ms)
    return "expiry of " + readable(std::vector{key}) + " afterwards\nreal server:      " + readable(expiry) +
           "\nsimulated server: " + readable(ours) + "\n";
  execute({"PEXPIREAT", key, std::to_string(expiry.integer)}, real.after_us);
  return {};
}

Reply ReplyComparison::execute(const std::vector<std::string>& words, std::int64_t now_us) {
  const std::vector<std::string_view> views{words.begin(), words.end()};
  return ours_.execute(views, now_us);
}

bool ReplyComparison::same(const Operation& operation, const Reply& ours, const Reply& real) const {
  const bool is_role =
      is_word(operation.words[0], "role") && !ours.elements.empty() && !real.elements.empty();
  if (is_role) return same(ours.elements[0], real.elements[0]);
  return names_members(operation.words) ? same(sorted(ours), sorted(real)) : same(ours, real);
}

/// Other versions write the same score in fewer digits.
bool ReplyComparison::is_same_text(const std::string& ours, const std::string& real) const {
  if (ours == real || compares_texts_) return ours == real;
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("+-.0123456789e") == text.npos;
  };
  return is_number(ours) && is_number(real) &&
         std::strtod(ours.c_str(), nullptr) == std::strtod(real.c_str(), nullptr);
}

bool ReplyComparison::same(const Reply& ours, const Reply& real) const {
  if (ours.kind != real.kind || ours.integer != real.integer) return false;
  if (ours.is(Reply::Kind::error) && !compares_texts_) return code(ours.text) == code(real.text);
  if (has_run_id(ours) && has_run_id(real)) return true;
  return is_same_text(ours.text, real.text) &&
         std::equal(ours.elements.begin(), ours.elements.end(), real.elements.begin(), real.elements.end(),
                    [this](const Reply& a, const Reply& b) { return same(a, b); });
}

}  // namespace redlock::simulation
