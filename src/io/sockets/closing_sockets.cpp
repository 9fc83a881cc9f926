#include "io/sockets/closing_sockets.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace redlock::inline v1::detail {
namespace {

/// More than the replies to all commands that may be unanswered: 65536 of about 100 bytes.
constexpr std::size_t most_read = std::size_t{8} << 20U;

}  // namespace

void ClosingSockets::add(std::unique_ptr<Transport> transport, WipedString unsent, core::Time until) {
  leaving_.push_back({std::move(transport), std::move(unsent), 0, 0, until});
  send_rest(leaving_.back());
}

core::Time ClosingSockets::timer() const noexcept {
  core::Time first = core::never;
  for (const Leaving& leaving : leaving_) first = std::min(first, leaving.until);
  return first;
}

void ClosingSockets::append_to(PollSet& poll, PollSet::Tag tag) const {
  for (const Leaving& leaving : leaving_) poll.add(leaving.transport->fd(), leaving.events(), tag);
}

void ClosingSockets::proceed(core::Time now) {
  std::erase_if(leaving_, [now](Leaving& leaving) { return now >= leaving.until || is_finished(leaving); });
}

void ClosingSockets::finish(core::Time until) {
  std::vector<pollfd> polls;
  for (core::Time now = Clock::now(); !empty() && now < until; now = Clock::now()) {
    polls.clear();
    for (const Leaving& leaving : leaving_) polls.push_back({leaving.transport->fd(), leaving.events(), 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    ::poll(polls.data(), polls.size(), static_cast<int>(left.count()));  // an error is a spurious wake-up
    proceed(Clock::now());
  }
}

bool ClosingSockets::is_finished(Leaving& leaving) {
  if (leaving.has_unsent()) send_rest(leaving);
  std::array<char, Transport::receive_size> ignored;
  for (int part = 0; part < 2; ++part) {
    const Transport::Received got = leaving.transport->receive(ignored.data(), ignored.size());
    leaving.read += got.size;
    if (got.ended || leaving.read > most_read) return true;
    if (!got.more) return false;
  }
  return false;
}

void ClosingSockets::send_rest(Leaving& leaving) {
  const std::string_view rest = std::string_view{leaving.unsent}.substr(leaving.sent);
  if (leaving.has_unsent()) leaving.sent += leaving.transport->send(rest).value_or(0);
  if (leaving.sent < leaving.unsent.size() || leaving.has_ended) return;
  leaving.transport->end_output();
  leaving.has_ended = true;
}

}  // namespace redlock::inline v1::detail
