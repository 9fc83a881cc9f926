#include "simulation/conformance/listener.hpp"

#include "simulation/conformance/words.hpp"
#include "simulation/server/readable.hpp"

namespace redlock::simulation {
namespace {

std::vector<std::string> any_command(RandomSource& random) {
  const std::string name = random.pick(
      {"SUBSCRIBE", "SUBSCRIBE", "SUBSCRIBE", "UNSUBSCRIBE", "PING", "ECHO", "PUBLISH", "NOTHING"});
  std::vector<std::string> words{any_case(random, name)};
  if (name != "UNSUBSCRIBE" && random.one_in(16)) return words;
  do words.push_back(any_channel(random));
  while (random.one_in(3));
  return words;
}

}  // namespace

/// Without channels, UNSUBSCRIBE names those that are left in any order.
std::string Listener::unsubscribe(std::int64_t now_us) {
  std::vector<std::string> all_but_one{"UNSUBSCRIBE"};
  for (std::size_t i = 1; i < channel_count; ++i) all_but_one.push_back(channel_name(i));
  std::string difference = say(all_but_one, now_us);
  return difference.empty() ? say({"UNSUBSCRIBE"}, now_us) : difference;
}

std::string Listener::speak(RandomSource& random, std::int64_t now_us) {
  std::string difference;
  while (difference.empty() && !random.one_in(3)) difference = say(any_command(random), now_us);
  return difference;
}

std::string Listener::say(const std::vector<std::string>& command, std::int64_t now_us) {
  const std::vector<std::string_view> words{command.begin(), command.end()};
  std::vector<Reply> ours;
  ours_.execute(number, words, now_us, ours);
  return replies_.differs("of a listener: " + readable(command), ours, real_.listener().say(command));
}

std::string Listener::listen() {
  std::vector<Reply> ours;
  for (Channels::Message& message : ours_.take_messages()) ours.push_back(std::move(message.reply));
  return replies_.differs("messages to a listener", ours, real_.listener().listen());
}

}  // namespace redlock::simulation
