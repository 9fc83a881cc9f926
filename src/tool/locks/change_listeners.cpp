#include "tool/locks/change_listeners.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "os/pause.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/error.hpp"
#include "tool/locks/patience.hpp"
#include "tool/nodes.hpp"

namespace redlock::tool {
namespace {

using core::Reply;
using Replies = std::vector<Reply>;

constexpr std::chrono::milliseconds between_calls{1000};  // of a node that does not answer
/// Within a second. A node may report the changes of many keys whose names begin with that of a watched one.
constexpr std::size_t most_messages = 10'000;
constexpr std::chrono::minutes after_flood{1};

/// Whether the server says that one of these keys, or each of its keys, was changed. Messages are about these keys and those
/// that begin with them.
bool is_about(const Reply& message, const std::vector<std::string>& watched) {
  if (message.elements.size() != 3 || message.elements[0].text != "message") return false;
  const Reply& keys = message.elements[2];
  return keys.is(Reply::Kind::nil) || std::ranges::any_of(keys.elements, [&watched](const Reply& changed) {
           return std::ranges::find(watched, changed.text) != watched.end();
         });
}

/// The command, the server's version or the user's rights do not allow it; other errors may pass.
bool is_refusal(const Reply& reply) {
  if (!reply.is(Reply::Kind::error)) return false;
  const NodeStatus status = core::trouble_of_error(reply.text).status;
  return status == NodeStatus::no_permission || status == NodeStatus::server_error;
}

struct Subscription {
  bool was_made = false;
  bool was_refused = false;
  Replies messages = {};  ///< That came right behind it.
};

Subscription outcome_of(Replies replies, std::size_t expected) {
  if (replies.size() < expected) return {};
  const auto end = replies.begin() + static_cast<std::ptrdiff_t>(expected);
  if (std::any_of(replies.begin(), end, is_refusal)) return {.was_refused = true};
  const bool was_made =
      std::none_of(replies.begin(), end, [](const Reply& reply) { return reply.is(Reply::Kind::error); });
  replies.erase(replies.begin(), end);
  return {.was_made = was_made, .messages = std::move(replies)};
}

/// Servers refuse prefixes that begin with one another.
std::string tracking_command(std::int64_t receiver, const std::vector<std::string>& keys) {
  const std::string id = std::to_string(receiver);
  std::vector<std::string_view> words{"CLIENT", "TRACKING", "ON", "REDIRECT", id, "BCAST"};
  for (const std::string& key : keys) {
    const auto covers = [&key](const std::string& other) { return key != other && key.starts_with(other); };
    if (std::ranges::none_of(keys, covers)) words.insert(words.end(), {"PREFIX", key});
  }
  std::string command;
  core::append_command(command, words);
  return command;
}

/// Makes the server report changes over this connection itself. Tracking by prefixes needs no reads that arm it, so the
/// connection need not be able to send commands any more.
Subscription subscribe(Dialogue& dialogue, const std::vector<std::string>& keys) {
  dialogue.send(core::command({"CLIENT", "ID"}));
  const Replies id = dialogue.receive(1);
  if (id.empty() || !id.front().is(Reply::Kind::integer)) return outcome_of(id, 1);
  dialogue.send(tracking_command(id.front().integer, keys) +
                core::command({"SUBSCRIBE", "__redis__:invalidate"}));
  return outcome_of(dialogue.receive_at_least(2), 2);
}

}  // namespace

ChangeListeners::ChangeListeners(const std::vector<Endpoint>& nodes, std::vector<std::string> keys,
                                 CredentialsSource credentials)
    : keys_{std::move(keys)}, credentials_{std::move(credentials)} {
  for (const Endpoint& node : nodes)
    threads_.emplace_back([this, node](const std::stop_token& stop) { listen(node, stop); });
}

void ChangeListeners::listen(const Endpoint& node, const std::stop_token& stop) {
  const std::stop_callback wake{stop, [this] { end_.set(); }};
  while (!stop.stop_requested()) {
    const End end = listen_once(node);
    if (end == End::refused) return count(deaf_, 1);
    if (end == End::flooded) count(deaf_, 1);
    detail::pause_until(Clock::now() + (end == End::flooded ? Clock::duration{after_flood} : between_calls),
                        stop);
    if (end == End::flooded) count(deaf_, -1);
  }
}

ChangeListeners::End ChangeListeners::listen_once(const Endpoint& node) try {
  Dialogue dialogue{with_login(node, credentials_), patience, &end_};
  if (!dialogue.connect() || !dialogue.log_in()) return End::lost;
  Subscription subscription = subscribe(dialogue, keys_);
  if (!subscription.was_made) return subscription.was_refused ? End::refused : End::lost;
  count(listening_, 1);
  Clock::time_point second_begun = Clock::now();
  std::size_t in_second = 0;
  for (Replies& messages = subscription.messages; !dialogue.has_failed() && in_second <= most_messages;
       messages = dialogue.listen()) {
    if (const auto now = Clock::now(); now - second_begun >= std::chrono::seconds{1}) {
      second_begun = now;
      in_second = 0;
    }
    in_second += messages.size();
    if (std::ranges::any_of(messages, [this](const Reply& message) { return is_about(message, keys_); }))
      count(listening_, 0);
  }
  count(listening_, -1);
  return in_second > most_messages ? End::flooded : End::lost;
} catch (const Error&) {  // of the source, about which the client warns
  return End::lost;
}

void ChangeListeners::count(std::size_t& counter, int difference) {
  {
    const std::lock_guard lock{mutex_};
    counter += static_cast<std::size_t>(difference);
    has_changed_ = true;
  }
  changed_.notify_one();
}

bool ChangeListeners::wait(Clock::time_point until, const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  constexpr Clock::duration longest = std::chrono::hours{24 * 365};  // the library adds it to its own clock
  const auto left = std::clamp(until - Clock::now(), Clock::duration::zero(), longest);
  changed_.wait_for(lock, stop, left, [this] { return has_changed_; });
  return std::exchange(has_changed_, false);
}

std::size_t ChangeListeners::listening() const {
  const std::lock_guard lock{mutex_};
  return listening_;
}

std::size_t ChangeListeners::deaf() const {
  const std::lock_guard lock{mutex_};
  return deaf_;
}

}  // namespace redlock::tool
