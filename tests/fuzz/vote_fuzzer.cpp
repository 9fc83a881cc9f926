// For any bytes from a server, split in any way: the replies are the same, stay within the limits, and only
// votes that the server has sent are counted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/conversation.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/pieces.hpp"
#include "io/reader.hpp"
#include "redlock/core/wire/vote.hpp"

namespace {

using namespace redlock::testing;
using namespace std::chrono_literals;
using redlock::core::Reply;
using redlock::core::Vote;
using redlock::detail::Reader;
using redlock::detail::ReplyLimits;

struct Received {
  std::vector<Reply> replies;
  bool understood = true;
};

bool operator==(const Received& one, const Received& other);  // below: replies contain replies

Received receive(std::string_view stream, Cut cut, ReplyLimits limits) {
  Received received;
  Reader reader{limits};
  in_pieces(stream, cut, [&](std::string_view piece) {
    if (!received.understood) return;
    reader.feed(piece.data(), piece.size());
    while (const Reply* reply = reader.next()) received.replies.push_back(*reply);
    received.understood = reader.error() == nullptr;
  });
  return received;
}

bool same(const Reply& one, const Reply& other) {
  return one.kind == other.kind && one.integer == other.integer && one.text == other.text &&
         std::equal(one.elements.begin(), one.elements.end(), other.elements.begin(), other.elements.end(),
                    same);
}
bool operator==(const Received& one, const Received& other) {
  return one.understood == other.understood &&
         std::equal(one.replies.begin(), one.replies.end(), other.replies.begin(), other.replies.end(), same);
}

ReplyLimits size_of(const Reply& reply) {
  ReplyLimits size{.text = reply.text.size(), .elements = reply.elements.size()};
  for (const Reply& element : reply.elements) {
    size.text += size_of(element).text;
    size.elements += size_of(element).elements;
  }
  return size;
}

void check_trouble(const Vote& vote, const Reply& reply) {
  using redlock::NodeStatus;
  const auto& [status, message, votes_in] = vote.trouble;
  must(status != NodeStatus::granted && status != NodeStatus::held && status != NodeStatus::free,
       "a trouble is not a vote");
  must(is_unmarked(reply) == (status == NodeStatus::quarantined), "only such a node waits");
  if (is_unmarked(reply))
    return must(!votes_in || (*votes_in >= 0h && *votes_in <= 24h * 3650),
                "a node votes now or within ten years");
  must(reply.is(Reply::Kind::error) ? message == reply.text : status == NodeStatus::protocol_error,
       "only an error reply is quoted");
}

std::size_t count(std::string_view stream, std::string_view word) {
  std::size_t found = 0;
  for (auto at = stream.find(word); at != stream.npos; at = stream.find(word, at + 1)) ++found;
  return found;
}

/// Checks that `vote_of` counts no more votes than the stream has words for a yes and for a no.
void check_votes(Vote (*vote_of)(const Reply&), const std::vector<Reply>& replies, std::size_t yes,
                 std::size_t no) {
  for (const Reply& reply : replies) {
    const Vote vote = vote_of(reply);
    if (vote.kind == Vote::Kind::unknown) {
      check_trouble(vote, reply);
      continue;
    }
    std::size_t& left = vote.kind == Vote::Kind::yes ? yes : no;
    must(left > 0, "only votes that the server sent are counted");
    --left;
  }
}

/// Checks that the counter of a grant is one that the server has sent, and within the range that Lua counts
/// exactly.
void check_grants(std::string_view stream, const std::vector<Reply>& replies) {
  for (const Reply& reply : replies) {
    const redlock::core::Grant grant = redlock::core::read_grant(reply);
    if (grant.vote.kind == Vote::Kind::unknown) check_trouble(grant.vote, reply);
    if (grant.vote.kind != Vote::Kind::yes) continue;
    must(grant.counter > 0 && grant.counter < std::uint64_t{1} << 53, "a counter is exact");
    must(count(stream, std::to_string(grant.counter) + "\r\n") > 0, "every counter was sent by the server");
  }
}

void check_replies(std::string_view stream, ReplyLimits limits) {
  const Received received = receive(stream, Cut::whole, limits);
  for (const Cut cut : small_cuts)
    must(receive(stream, cut, limits) == received, "the replies do not depend on the pieces");
  for (const Reply& reply : received.replies)
    must(size_of(reply).text <= limits.text && size_of(reply).elements <= limits.elements,
         "no reply is larger than allowed");
  check_votes(redlock::core::vote_of_set, received.replies, count(stream, "+OK\r\n"),
              count(stream, "$-1\r\n") + count(stream, "*-1\r\n"));
  check_grants(stream, received.replies);
  check_votes(redlock::core::vote_of_script, received.replies, count(stream, ":1\r\n"),
              count(stream, ":0\r\n") + count(stream, ":-1\r\n"));
}

std::string converse(std::string_view stream, Conversation::Since since, Cut cut) {
  Conversation conversation{since};
  in_pieces(stream, cut, [&](std::string_view piece) { conversation.receive(piece); });
  conversation.end(stream);
  return conversation.outcome();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream{reinterpret_cast<const char*>(data), size};
  check_replies(stream, {});
  check_replies(stream, {.text = 50, .elements = 5});  // limits that short inputs can exceed
  using Since = Conversation::Since;
  for (const Since since : {Since::handshake, Since::login, Since::ready}) {
    const std::string outcome = converse(stream, since, Cut::whole);
    for (const Cut cut : small_cuts)
      must(converse(stream, since, cut) == outcome, "the outcome does not depend on the pieces");
  }
  return 0;
}
