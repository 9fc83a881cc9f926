#include "simulation/server/commands/sorted_set_commands.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace redlock::simulation::sorted_set_commands {
namespace {

using Members = std::span<const SortedSet::Member>;

/// A key as these commands see it: `wrong_type` after writing an error to the answer.
struct Found {
  Entry* entry = nullptr;
  bool wrong_type = false;
};

Found find(const Call& call) {
  Entry* const entry = call.find(call.words[1]);
  if (!entry || entry->is(Entry::Type::sorted_set)) return {entry};
  call.answer.wrong_type();
  return {nullptr, true};
}

/// Returns nothing for texts that are no number, or one that a double cannot hold.
std::optional<double> parse_score(std::string_view text) {
  const std::string copy{text};
  char* end = nullptr;
  errno = 0;
  const double score = std::strtod(copy.c_str(), &end);
  const bool is_whole = !text.empty() && !std::isspace(static_cast<unsigned char>(text[0])) &&
                        end == copy.c_str() + copy.size();
  const bool is_out_of_range = errno == ERANGE && (std::isinf(score) || score == 0);
  if (!is_whole || is_out_of_range || std::isnan(score)) return std::nullopt;
  return score;
}

/// Seventeen digits lose no bit.
std::string score_text(double score) {
  char text[32];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.17g", score))};
}

/// One end of a range of scores.
struct Bound {
  double score = 0;
  bool excluded = false;

  /// More lenient than the score of a member: leading spaces are allowed, nothing is zero, and a zero byte ends the text.
  static std::optional<Bound> parse(std::string_view text) {
    const bool excluded = text.starts_with('(');
    const std::string number{text.substr(excluded ? 1 : 0)};
    char* end = nullptr;
    const double score = std::strtod(number.c_str(), &end);
    if (*end != '\0' || std::isnan(score)) return std::nullopt;
    return Bound{score, excluded};
  }
};

struct Options {
  bool with_scores = false;
  std::int64_t offset = 0;
  std::int64_t limit = -1;  // negative: all
};

/// Returns nothing after writing an error to the answer.
std::optional<Options> parse_options(Words words, bool may_be_limited, const Answer& answer) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_word(words[i], "withscores")) {
      options.with_scores = true;
    } else if (may_be_limited && is_word(words[i], "limit") && i + 2 < words.size()) {
      const auto offset = parse_integer(words[++i]);
      const auto limit = parse_integer(words[++i]);
      if (!offset || !limit) return answer.not_an_integer(), std::nullopt;
      options.offset = *offset;
      options.limit = *limit;
    } else {
      return answer.syntax_error(), std::nullopt;
    }
  }
  return options;
}

void answer_with(Members members, const Options& options, const Answer& answer) {
  std::vector<Reply> replies;
  for (const SortedSet::Member& member : members) {
    Answer{replies.emplace_back()}.string(member.name);
    if (options.with_scores) Answer{replies.emplace_back()}.string(score_text(member.score));
  }
  answer.array(std::move(replies));
}

Members part(Members members, const Options& options) {
  const auto size = static_cast<std::int64_t>(members.size());
  if (options.offset < 0 || options.offset >= size) return {};
  const std::int64_t rest = size - options.offset;
  const std::int64_t count = options.limit < 0 ? rest : std::min(options.limit, rest);
  return members.subspan(static_cast<std::size_t>(options.offset), static_cast<std::size_t>(count));
}

}  // namespace

void zadd(const Call& call) {
  const Words pairs = call.words.subspan(2);
  if (pairs.size() % 2 != 0) return call.answer.syntax_error();
  std::vector<double> scores;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const auto score = parse_score(pairs[i]);
    if (!score) return call.answer.error("ERR value is not a valid float");
    scores.push_back(*score);
  }
  auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  if (!entry) {
    entry = &call.keys.emplace(call.words[1], Entry{}).first->second;
    entry->type = Entry::Type::sorted_set;
  }
  long long added = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    added += entry->members.put(pairs[2 * i + 1], scores[i]) ? 1 : 0;
  call.answer.integer(added);
}

void zcard(const Call& call) {
  const auto [entry, wrong_type] = find(call);
  if (!wrong_type) call.answer.integer(entry ? static_cast<long long>(entry->members.members().size()) : 0);
}

void zrange(const Call& call) {
  const auto options = parse_options(call.words.subspan(4), false, call.answer);
  if (!options) return;
  const auto first = parse_integer(call.words[2]);
  const auto last = parse_integer(call.words[3]);
  if (!first || !last) return call.answer.not_an_integer();
  const auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  const Members members = entry ? Members{entry->members.members()} : Members{};
  const auto size = static_cast<std::int64_t>(members.size());
  const auto from_start = [size](std::int64_t index) { return index < 0 ? index + size : index; };
  const std::int64_t begin = std::max<std::int64_t>(from_start(*first), 0);
  const std::int64_t end = std::min(from_start(*last), size - 1) + 1;
  if (begin >= end) return call.answer.array({});
  answer_with(members.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
              *options, call.answer);
}

void zrangebyscore(const Call& call) {
  const auto options = parse_options(call.words.subspan(4), true, call.answer);
  if (!options) return;
  const auto min = Bound::parse(call.words[2]);
  const auto max = Bound::parse(call.words[3]);
  if (!min || !max) return call.answer.error("ERR min or max is not a float");
  const auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  if (!entry) return call.answer.array({});
  const auto& members = entry->members.members();
  const auto begin = std::ranges::partition_point(members, [&](const SortedSet::Member& member) {
    return min->excluded ? member.score <= min->score : member.score < min->score;
  });
  const auto end = std::partition_point(begin, members.end(), [&](const SortedSet::Member& member) {
    return max->excluded ? member.score < max->score : member.score <= max->score;
  });
  answer_with(part({begin, end}, *options), *options, call.answer);
}

void zrank(const Call& call) {
  const auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  const auto* const member = entry ? entry->members.find(call.words[2]) : nullptr;
  if (!member) return call.answer.nil();
  call.answer.integer(static_cast<long long>(entry->members.rank(*member)));
}

void zrem(const Call& call) {
  const auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  long long removed = 0;
  for (const std::string_view name : call.words.subspan(2))
    removed += entry && entry->members.remove(name) ? 1 : 0;
  const bool is_empty = entry && entry->members.members().empty();
  if (is_empty && call.flaw != Flaw::empty_sets_stay) call.keys.erase(call.keys.find(call.words[1]));
  call.answer.integer(removed);
}

void zscore(const Call& call) {
  const auto [entry, wrong_type] = find(call);
  if (wrong_type) return;
  const auto* const member = entry ? entry->members.find(call.words[2]) : nullptr;
  if (!member) return call.answer.nil();
  call.answer.string(score_text(member->score));
}

}  // namespace redlock::simulation::sorted_set_commands
