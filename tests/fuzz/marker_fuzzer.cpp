// Any texts that other programs wrote to the servers, and any texts of the servers about themselves, are read as what they are:
// in range, bounded, and printable where they are shown.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/choices.hpp"
#include "fuzz/finding.hpp"
#include "redlock/core/line/line_view.hpp"
#include "redlock/core/restart_guard/guard_messages.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/error.hpp"
#include "redlock/lease.hpp"
#include "redlock/node_report.hpp"
#include "unit/support/handshake_replies.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace std::chrono_literals;
namespace core = redlock::core;
using Standing = core::GuardedNode::Standing;

constexpr std::string_view run_id = "0123456789abcdef0123456789abcdef01234567";

/// PTTL is rounded down, so a client adds a millisecond.
constexpr std::chrono::milliseconds longest_quarantine = core::longest_believed + 1ms;

bool is_name(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of(core::lower_hex) == text.npos;
}

template <class Value>
std::string shown(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Numbers that servers name.
long long number_of(Choices& choices) {
  constexpr long long most = std::numeric_limits<long long>::max();
  constexpr std::array<long long, 11> some{
      0,           1,    -1,    -2,       60'000, 1'790'000'000'000'000, 9'007'199'254'740'992,
      most / 1000, most, -most, -most - 1};
  return some.at(choices.below(some.size()));
}

// ── the restart guard ────────────────────────────────────────────────────────────────────────────────────────

void check_marker(std::string_view text) {
  const std::optional<core::Marker> marker = core::Marker::parse(text);
  if (!marker) return;
  must(is_name(marker->node) && (is_name(marker->deployment) || !marker->is_named()),
       "names have a fixed form");
  must(marker->limits.max_ttl > 0ms && marker->limits.max_ttl <= marker->limits.ceiling &&
           marker->limits.ceiling <= 24h * 365,
       "limits are within their range");
  const std::string again = marker->text();
  const auto same = core::Marker::parse(again);
  must(same && same->text() == again && same->limits == marker->limits && same->nodes == marker->nodes &&
           same->node == marker->node && same->run_id == marker->run_id,
       "a marker that is written is the one that was read");
  must(again.starts_with(marker->beginning()) && again.ends_with(core::Marker::ending_of(again)),
       "scripts find both ends of a marker");
}

void check_trouble(const core::Trouble& trouble) {
  must(trouble.message.size() < 1000, "a message is short");
  must(!trouble.votes_in || (*trouble.votes_in >= 0ms && *trouble.votes_in <= longest_quarantine),
       "a node votes now or within ten years");
  const redlock::NodeReport report{
      .node = "node", .status = trouble.status, .message = trouble.message, .owner = {}, .ttl = {}};
  const std::string line = shown(report);
  must(!trouble.message.empty() && is_printable(line) && line.size() < 1000,
       "a report is one short, printable line");
}

/// `text`: the node's marker, for a client that knows its deployment or not.
void check_node(std::string_view text, Choices choices) {
  const std::size_t options = choices.next();
  const core::Reply reply =
      array_reply({string_reply(std::string{text}), number(number_of(choices)), number(number_of(choices)),
                   number(number_of(choices)), string_reply((options & 16) != 0 ? "" : std::string{run_id})});
  core::ExpectedMarker expected;
  expected.nodes = 5;
  expected.is_durable = (options & 1) != 0;
  if ((options & 2) != 0) expected.deployment = "5f0c5f0c5f0c5f0c";
  if ((options & 4) != 0) expected.highest_ceiling = 1min;
  core::GuardedNode node;
  node.run_id = (options & 8) != 0 ? "" : run_id;
  const core::Time now = at(1s);
  must(node.read(reply, *expected.keys, expected.is_durable, 1, now) ==
           (node.run_id == reply.elements[4].text),
       "another run is noticed");
  if (node.failure) check_trouble(*node.failure);
  must(node.uptime >= 0s && node.uptime <= core::longest_believed, "a time is believed up to ten years");
  must(node.quarantined_until == core::never || node.quarantined_until <= now + longest_quarantine,
       "a quarantine is believed up to ten years");
  node.standing = node.standing_at(now, expected);
  const bool is_admitted = node.standing == Standing::admitted;
  must(!is_admitted ||
           (node.marker && node.marker->nodes == 5 && node.marker->deployment == expected.deployment &&
            node.marker->limits.ceiling <= expected.highest_ceiling),
       "only a node with a marker that fits is admitted");
  if (!is_admitted && !node.failure) check_trouble(core::objection_to(node, expected, 1min, now));
}

void check_run_id(const std::string& info) {
  core::Handshake handshake{{}};
  std::vector<core::Reply> replies = handshake_replies("");
  replies.at(1) = string_reply(info);  // that to INFO
  for (const core::Reply& reply : replies) must(!handshake.answered(reply), "any INFO will do");
  const std::string& found = handshake.greeting().run_id;
  must(found.empty() || info.find("run_id:" + found) != info.npos, "a run_id is one that the server named");
  must(found.find_first_of("\r\n") == found.npos, "a run_id is of one line");
}

// ── holders and lines ────────────────────────────────────────────────────────────────────────────────────────

void check_holder(const std::string& text) {
  const redlock::Holder holder{text};
  must(holder.owner_value == text, "an owner value stays as it is");
  must(holder.label.empty() || holder.since, "a label comes with a time");
  if (holder.since)
    must(holder.since->time_since_epoch() >= 0s &&
             holder.since->time_since_epoch().count() <= 253'402'300'799 &&
             text.find(' ' + holder.label) != text.npos,
         "a time is within years of four digits, and a label is one that the holder wrote");
  const std::string line = shown(holder);
  must(is_printable(line) && line.size() <= 4 * 200 + 40, "a holder is shown in a short, printable line");
}

void check_handover(std::string_view text) try {
  const redlock::Handover handover = redlock::Handover::parse(text);
  must(!handover.resource.empty() && !handover.owner_value.empty(), "a handover names a lock and its owner");
  must(redlock::Handover::parse(handover.to_string()) == handover,
       "a handover that is written is the one that was read");
} catch (const redlock::Error& refusal) {
  const std::string_view message = refusal.what();
  must(refusal.code() == redlock::Errc::invalid_argument, "refused text is the program's mistake");
  must(is_printable(message) && message.size() < 250 && message.find("allowed") != message.npos,
       "a refusal is short and printable, and says what is allowed");
}

/// The lines of the text are elements of a reply.
core::Reply lines_of(std::string_view text) {
  std::vector<core::Reply> lines;
  std::istringstream in{std::string{text}};
  for (std::string line; std::getline(in, line);) lines.push_back(string_reply(line));
  return array_reply(std::move(lines));
}

void check_line(std::string_view text, std::string_view clock) {
  const core::Reply order = lines_of(text);
  const core::Reply time = clock.empty() ? lines_of("1790000000\n250000\n") : lines_of(clock);
  const std::vector<core::StandingMember> line =
      core::read_line(order, order.elements.empty() ? order : lines_of(clock), time);
  must(line.size() <= order.elements.size() / 2, "a line has the members that the node named");
  for (const core::StandingMember& one : line) {
    must(one.waited >= 0ns && one.waited <= 1'000'000'000s, "a wait is within its range");
    must(one.client.empty() || is_name(one.client), "a client has 16 hex digits");
    const std::string member = one.client.empty() ? one.label : one.client + '.' + one.label;
    must(text.find(member) != text.npos, "a member is one that the node named");
  }
}

void check_place(const std::string& name, Choices choices) {
  const long long rank = number_of(choices);
  const long long length = number_of(choices);
  const auto place = core::read_place(array_reply({number(rank), number(length), number(number_of(choices)),
                                                   number(number_of(choices)), string_reply(name)}),
                                      4s);
  if (!place) return;
  must(place->rank >= -1 && place->length >= 0 && place->line.size() <= 100, "a place is within its range");
  must(!place->ahead_left || (*place->ahead_left >= 0s && *place->ahead_left <= 4s),
       "those before count as dead within their life");
}

void check_key(std::string_view key) {
  if (const auto lock = core::lock_key_of_order(key))
    must(key.find(*lock) != key.npos && lock->size() < key.size(), "a lock is one that the message named");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices{{reinterpret_cast<const char*>(data), size}};
  const Choices numbers{choices.take(5)};
  const std::string_view text = choices.take(size);
  check_marker(text);
  check_node(text, numbers);
  check_run_id(std::string{text});
  check_holder(std::string{text});
  check_handover(text);
  const std::size_t half = text.find("\n\n");
  check_line(text.substr(0, half), half == text.npos ? std::string_view{} : text.substr(half + 2));
  check_place(std::string{text}, numbers);
  check_key(text);
  return 0;
}
