#include "tool/probe/probe.hpp"

#include <algorithm>
#include <charconv>
#include <future>
#include <optional>
#include <thread>

#include "redlock/core/wire/resp.hpp"
#include "tool/probe/dialogue.hpp"
#include "tool/probe/questions.hpp"

namespace redlock::tool {
namespace {

using std::chrono::nanoseconds;

/// One reading of a server's clock. In the middle of the round trip, up to half of it earlier or later, the server's
/// clock showed this time.
struct Reading {
  Clock::time_point at;  // the middle
  nanoseconds wall{};    // this machine's wall clock then
  nanoseconds server{};  // since 1970
  nanoseconds round_trip{};
};

std::optional<long long> number_in(const core::Reply& reply) {
  long long value = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto parsed = std::from_chars(reply.text.data(), end, value);
  constexpr long long most = 1LL << 33U;  // seconds
  if (parsed.ec != std::errc{} || parsed.ptr != end || value < 0 || value > most) return std::nullopt;
  return value;
}

std::optional<nanoseconds> time_of(const core::Reply& reply) {
  if (!reply.is(core::Reply::Kind::array) || reply.elements.size() != 2) return std::nullopt;
  const auto seconds = number_in(reply.elements[0]);
  const auto micros = number_in(reply.elements[1]);
  if (!seconds || !micros) return std::nullopt;
  return std::chrono::seconds{*seconds} + std::chrono::microseconds{*micros};
}

/// Returns the reading with the shortest of three round trips; none if the server does not answer with its time.
std::optional<Reading> read_clock(Dialogue& dialogue) {
  std::optional<Reading> best;
  for (int count = 0; count < 3; ++count) {
    const auto begun = Clock::now();
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    dialogue.send(core::command({"TIME"}));
    const std::vector<core::Reply> replies = dialogue.receive(1);
    const nanoseconds round_trip = Clock::now() - begun;
    if (replies.empty()) return best;
    const std::optional<nanoseconds> server = time_of(replies.front());
    if (!server) return best;
    const Reading reading{begun + round_trip / 2, wall + round_trip / 2, *server, round_trip};
    if (!best || round_trip < best->round_trip) best = reading;
  }
  return best;
}

ClockFacts compare(const Reading& first, const Reading& last) {
  constexpr nanoseconds resolution = std::chrono::microseconds{1};
  const auto uncertainty = [&](const Reading& reading) { return reading.round_trip / 2 + resolution; };
  ClockFacts facts;
  facts.offset = last.server - last.wall;
  facts.offset_uncertainty = uncertainty(last);
  const std::chrono::duration<double> here = last.at - first.at;
  const std::chrono::duration<double> there = last.server - first.server;
  const std::chrono::duration<double> either = uncertainty(first) + uncertainty(last);
  facts.rate = (there - here) / here;
  facts.rate_uncertainty = either / here;
  return facts;
}

void measure(Dialogue& dialogue, const ProbeOptions& options, NodeFacts& facts) {
  const std::optional<Reading> first = read_clock(dialogue);
  if (!first || dialogue.has_failed()) return;
  facts.round_trip = first->round_trip;
  if (options.between_readings == Clock::duration::zero()) return;
  std::this_thread::sleep_for(options.between_readings);
  const std::optional<Reading> last = read_clock(dialogue);
  if (!last) return;
  facts.round_trip = std::min(first->round_trip, last->round_trip);
  facts.clock = compare(*first, *last);
}

/// Asks the questions, and hands each reply to its question.
void ask(Dialogue& dialogue, const std::vector<Question>& questions, NodeFacts& facts) {
  detail::WipedString commands;
  for (const Question& question : questions) commands += question.command.text();
  dialogue.send(commands);
  const std::vector<core::Reply> replies = dialogue.receive(questions.size());
  for (std::size_t index = 0; index < replies.size(); ++index) questions[index].note(replies[index], facts);
}

NodeFacts facts_of(const Endpoint& node, const ProbeOptions& options) {
  NodeFacts facts;
  Dialogue dialogue{node,
                    {.connecting = options.connect_timeout,
                     .silence = options.answer_timeout,
                     .exchange = options.answer_timeout}};
  if (dialogue.connect()) {
    facts.address = dialogue.address();
    facts.certificate_end = dialogue.certificate_end();
    facts.own_certificate_end = dialogue.own_certificate_end();
    ask(dialogue, all_questions(node, options), facts);
    if (!facts.trouble.empty())  // what else it has answered says nothing
      return {.trouble = facts.trouble,
              .address = facts.address,
              .certificate_end = facts.certificate_end,
              .own_certificate_end = facts.own_certificate_end};
    if (!dialogue.has_failed()) measure(dialogue, options, facts);
    if (!dialogue.has_failed()) ask(dialogue, {listening_question()}, facts);
  }
  if (facts.trouble.empty()) facts.trouble = dialogue.trouble().message;
  return facts;
}

}  // namespace

std::vector<NodeFacts> probe(const std::vector<Endpoint>& nodes, const ProbeOptions& options) {
  std::vector<std::future<NodeFacts>> answers;
  for (const Endpoint& node : nodes)
    answers.push_back(std::async(std::launch::async, [&] { return facts_of(node, options); }));
  std::vector<NodeFacts> all;
  for (std::future<NodeFacts>& answer : answers) all.push_back(answer.get());
  return all;
}

}  // namespace redlock::tool
