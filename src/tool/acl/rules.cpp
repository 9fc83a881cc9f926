#include "tool/acl/rules.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/marker.hpp"

namespace redlock::tool {
namespace {

using Rules = std::vector<std::string>;

/// Matches this text only. A byte that cannot stand in a rule becomes `?`, which matches any byte.
std::string pattern_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::isgraph(static_cast<unsigned char>(c)) == 0 || c == '"' || c == '\'' || c == '\\') {
      pattern += '?';
      continue;
    }
    if (std::string_view{"*?[]"}.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

/// The companions of one kind: see `core::companion_key`.
Rules companions(const std::string& kind, const std::string& prefix) {
  return {"~redlock:" + kind + ":{" + prefix + '*', "~redlock:" + kind + "t:" + prefix + '*'};
}

/// Without a prefix, locks may have any name, so their rule allows all keys.
Rules keys_of(Feature feature, std::string_view key_prefix) {
  if (key_prefix.empty()) return feature == Feature::plain ? Rules{"~*"} : Rules{};
  const std::string prefix = pattern_of(key_prefix);
  switch (feature) {
    case Feature::plain:
      return {'~' + prefix + '*', '~' + std::string{core::marker_key} + ':' + prefix,
              '~' + std::string{core::quarantine_key} + ':' + prefix};
    case Feature::fenced:
      return companions("f", prefix);
    case Feature::waiting:
      return companions("q?", prefix);
    case Feature::renewed:
      return companions("a", prefix);
    case Feature::shared:
      return companions("s", prefix);
    case Feature::operating:
      return {};
  }
  return {};
}

/// Those of the second connection to a node, and of the messages that it hears.
const Rules listening_channels{'&' + std::string{core::invalidation_channel}, "&redlock:turn:*"};
const Rules listening{"+subscribe", "+ping", "+client|id", "+client|tracking", "+client|caching"};

Rules commands_of(Feature feature) {
  switch (feature) {
    case Feature::plain:
      return {"+client|setname", "+role", "+info",   "+script|load", "+eval", "+evalsha", "+set",
              "+getrange",       "+del",  "+exists", "+pttl",        "+time"};
    case Feature::fenced:
      return {"+get"};
    case Feature::renewed:
      return {"+pexpire"};
    case Feature::waiting:
      return {"+pexpire", "+zadd",          "+zrem",  "+zscore", "+zrange",
              "+zrank",   "+zrangebyscore", "+zcard", "+publish"};
    case Feature::shared:
      return {"+pexpire", "+sadd", "+srem", "+smembers", "+sismember"};
    case Feature::operating:
      return {"+scan", "+config|get"};
  }
  return {};
}

void append(Rules& rules, const Rules& more) {
  for (const std::string& rule : more)
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
}

/// The doctor looks at all rights of locks.
std::set<Feature> with_needed(const std::vector<Feature>& features) {
  std::set<Feature> all{features.begin(), features.end()};
  all.insert(Feature::plain);
  if (all.contains(Feature::shared)) all.insert(Feature::fenced);
  if (all.contains(Feature::operating)) all.insert(std::begin(all_features), std::end(all_features));
  return all;
}

}  // namespace

std::string_view name_of(Feature feature) noexcept {
  switch (feature) {
    case Feature::plain:
      return "plain";
    case Feature::fenced:
      return "fenced";
    case Feature::renewed:
      return "renewed";
    case Feature::waiting:
      return "waiting";
    case Feature::shared:
      return "shared";
    case Feature::operating:
      return "operator";
  }
  return "";
}

std::vector<std::string> acl_rules(const std::vector<Feature>& features, std::string_view key_prefix) {
  const std::set<Feature> all = with_needed(features);
  const bool listens = all.contains(Feature::renewed) || all.contains(Feature::waiting);
  Rules rules;
  for (const Feature feature : all) append(rules, keys_of(feature, key_prefix));
  if (listens) append(rules, listening_channels);
  for (const Feature feature : all) append(rules, commands_of(feature));
  if (listens) append(rules, listening);
  return rules;
}

}  // namespace redlock::tool
