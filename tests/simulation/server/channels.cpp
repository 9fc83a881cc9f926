#include "simulation/server/channels.hpp"

#include "simulation/server/command.hpp"

namespace redlock::simulation {

std::size_t Channels::subscribe(int connection, std::string_view channel) {
  auto& channels = subscribers_[connection];
  channels.emplace(channel);
  return channels.size();
}

std::size_t Channels::unsubscribe(int connection, std::string_view channel) {
  const auto at = subscribers_.find(connection);
  if (at == subscribers_.end()) return 0;
  auto& channels = at->second;
  if (const auto found = channels.find(channel); found != channels.end()) channels.erase(found);
  const std::size_t left = channels.size();
  if (left == 0) subscribers_.erase(at);
  return left;
}

std::vector<std::string> Channels::of(int connection) const {
  const auto at = subscribers_.find(connection);
  if (at == subscribers_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::size_t Channels::publish(std::string_view channel, std::string_view text) {
  std::vector<Reply> parts(3);
  Answer{parts[0]}.string("message");
  Answer{parts[1]}.string(channel);
  Answer{parts[2]}.string(text);
  std::size_t receivers = 0;
  for (const auto& [connection, channels] : subscribers_) {
    if (!channels.contains(channel)) continue;
    Answer{messages_.emplace_back(Message{connection, {}}).reply}.array(parts);
    ++receivers;
  }
  return receivers;
}

}  // namespace redlock::simulation
