#include "io/connections.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::ConnectionIndex;
using core::NodeIndex;
using core::Span;
using core::Time;

/// How long a server may take to read our last bytes.
constexpr Span closing_time = std::chrono::seconds{5};
/// How many replies of a connection may stay unread while nobody waits for them.
constexpr std::size_t most_left_unread = 8;

/// One for each node; null for those without TLS. Nodes with equal options share theirs.
std::vector<std::shared_ptr<TlsContext>> tls_contexts(const std::vector<Endpoint>& endpoints) {
  std::vector<std::shared_ptr<TlsContext>> contexts(endpoints.size());
  for (NodeIndex node = 0; node < endpoints.size(); ++node) {
    const Endpoint& endpoint = endpoints[node];
    if (endpoint.transport() != Endpoint::Transport::tls) continue;
    for (NodeIndex earlier = 0; earlier < node && !contexts[node]; ++earlier)
      if (endpoints[earlier].tls_options(TlsOptions{}) == endpoint.tls_options(TlsOptions{}))
        contexts[node] = contexts[earlier];
    if (!contexts[node]) try {
        contexts[node] = TlsContext::make(endpoint.tls_options(TlsOptions{}));
      } catch (const Error& error) {
        throw Error{error.code(), endpoint.to_string() + ": " + error.details()};
      }
  }
  return contexts;
}

}  // namespace

Connections::Connections(core::Engine& engine, Poller& poller, const std::vector<Endpoint>& endpoints,
                         Span connect_timeout)
    : engine_{engine}, poller_{poller}, certificates_{engine.nodes()} {
  links_.reserve(engine.connections());
  const std::vector<std::shared_ptr<TlsContext>> tls = tls_contexts(endpoints);
  for (ConnectionIndex each = 0; each < engine.connections(); ++each) {
    const NodeIndex node = each % endpoints.size();
    links_.push_back({engine.session(each), {endpoints[node], ReplyLimits{}, connect_timeout, tls[node]}});
  }
}

void Connections::close_in_child() const noexcept {
  for (const Link& link : links_) link.connection.close_in_child();
}

void Connections::finish(Time until) {
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) {
    Link& link = links_[node];
    if (link.connection.is_open() && (link.session.pending() > 0 || link.has_unsent()))
      closing_.add(take_transport(link), WipedString{link.session.unsent()}, until);
  }
  closing_.finish(until);
}

// ── polling ─────────────────────────────────────────────────────────────────────────────────────────────────

/// Begins again after an errand or a broken connection, because either may be work for a connection that had its turn.
void Connections::prepare(PollSet& poll, Time now) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    poll.clear();
    for (ConnectionIndex each = 0; each < links_.size(); ++each) {
      Link& link = links_[each];
      if (link.session.has_errand()) {
        is_done = false;
        run_errands(each, now);
      }
      if (link.has_unsent() && !flush_one(each, now)) is_done = false;
      link.is_polled_for_output = link.has_unsent();
      if (link.is_watched && !link.is_polled_for_output) continue;
      if (const int fd = link.connection.fd(); fd >= 0)
        poll.add(fd, link.connection.events(link.is_polled_for_output), each);
    }
  }
  closing_.append_to(poll, links_.size());
}

Time Connections::timer() const noexcept {
  Time first = closing_.timer();
  for (const Link& link : links_) first = std::min(first, link.connection.timer());
  return first;
}

bool Connections::need_more_than_polled() const noexcept {
  return std::any_of(links_.begin(), links_.end(), [](const Link& link) {
    return link.session.has_errand() || (!link.is_polled_for_output && link.has_unsent());
  });
}

std::ptrdiff_t Connections::append_idle_to(std::vector<pollfd>& polls, bool with_ends) const {
  std::ptrdiff_t for_commands = 0;
  for (ConnectionIndex each = with_ends ? 0 : engine_.nodes(); each < links_.size(); ++each) {
    if (!links_[each].connection.is_open()) continue;
    const bool is_listener = each >= engine_.nodes();
    const short events = is_listener ? POLLIN : POLLRDHUP;
    polls.push_back({links_[each].connection.fd(), events, 0});
    for_commands += is_listener ? 0 : 1;
  }
  return for_commands;
}

void Connections::handle(const PollSet& poll, Time now, bool may_be_due, const core::Operation* awaited) {
  poll.each_ready([&](PollSet::Tag which, short events) {
    if (which < links_.size() && !may_stay_unread(which, events, awaited)) handle_one(which, now);
  });
  if (may_be_due) {
    // If a timer is due, read all connections first: an interrupted or outdated poll does not know all events.
    const bool is_timer_due = now >= engine_.timer();
    for (ConnectionIndex each = 0; each < links_.size(); ++each) {
      const Connection& connection = links_[each].connection;
      if ((is_timer_due && connection.is_open()) || now >= connection.timer()) handle_one(each, now);
    }
  }
  if (!closing_.empty()) closing_.proceed(now);
  if (engine_.observer()) certificates_.on_time(now, *engine_.observer());
}

/// Replies that come after the decision are read with the next ones of their node: one system call for several.
bool Connections::may_stay_unread(ConnectionIndex which, short events,
                                  const core::Operation* awaited) const noexcept {
  if (!awaited || !awaited->done() || engine_.active() > 0) return false;
  const core::Session& session = links_[which].session;
  return which < engine_.nodes() && events == POLLIN && session.ready() &&
         session.pending() <= most_left_unread;
}

void Connections::handle_one(ConnectionIndex which, Time now) {
  Link& link = links_[which];
  // The polled connection was given up meanwhile; its events do not concern its replacement.
  if (link.session.has_errand()) return;
  if (link.connection.is_open())
    read(which, now);
  else if (link.session.state() == core::Session::State::dialling)
    dial(which, link.connection.proceed(), now);
}

void Connections::read(ConnectionIndex which, Time now) {
  Link& link = links_[which];
  const Connection::Received received =
      link.connection.receive(*room_, [&](const core::Reply& reply) { engine_.answered(which, reply, now); });
  link.session.left_unread(received == Connection::Received::part);
  if (received == Connection::Received::failed) engine_.disconnected(which, link.connection.trouble(), now);
}

/// Reads twice, because late replies to earlier commands may precede the end of the stream.
void Connections::read_stale(Time now) {
  const auto is_stale = [&](NodeIndex node) {
    return links_[node].session.stale(now) && links_[node].connection.is_open();
  };
  bool is_any_stale = false;
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) is_any_stale = is_any_stale || is_stale(node);
  if (!is_any_stale) return;
  stale_.clear();
  for (NodeIndex node = 0; node < engine_.nodes(); ++node)
    stale_.push_back({is_stale(node) ? links_[node].connection.fd() : -1, POLLIN, 0});  // -1: not polled
  if (::poll(stale_.data(), stale_.size(), 0) <= 0) return;
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) {
    if (stale_[node].revents == 0 || !is_stale(node)) continue;
    read(node, now);
    if (links_[node].session.ready()) read(node, now);
  }
}

void Connections::flush(Time now) {
  for (ConnectionIndex each = 0; each < links_.size(); ++each)
    if (links_[each].has_unsent()) flush_one(each, now);
}

/// Sends if the connection is open. Returns false if it turned out to be broken.
bool Connections::flush_one(ConnectionIndex which, Time now) {
  Link& link = links_[which];
  if (!link.connection.is_open()) return true;
  const auto sent = link.connection.send(link.session.unsent());
  if (sent)
    link.session.sent(*sent);
  else
    engine_.disconnected(which, link.connection.trouble(), now);
  return sent.has_value();
}

void Connections::run_errands(ConnectionIndex which, Time now) {
  Link& link = links_[which];
  core::Session& session = link.session;
  while (session.has_errand()) {
    note_change(which);
    if (auto closing = session.take_closing()) {
      const NodeStatus why = session.trouble().status;
      if (why == NodeStatus::wrong_password || why == NodeStatus::auth_required) changes_.logins = true;
      std::unique_ptr<Transport> transport = take_transport(link);
      if (closing->graceful && transport)
        closing_.add(std::move(transport), std::move(closing->unsent), now + closing_time);
    }
    if (session.take_dial()) dial(which, link.connection.dial(), now);
  }
}

void Connections::dial(ConnectionIndex which, Connection::Dial outcome, Time now) {
  note_change(which);
  Link& link = links_[which];
  if (outcome == Connection::Dial::connected) {
    link.is_watched = poller_.watch(link.connection.fd(), which);
    engine_.connected(which);
    note_certificates(which, now);
  }
  if (outcome == Connection::Dial::failed) engine_.disconnected(which, link.connection.trouble(), now);
}

/// Closes the connection. Returns its transport if it was open.
std::unique_ptr<Transport> Connections::take_transport(Link& link) noexcept {
  if (std::exchange(link.is_watched, false)) poller_.forget(link.connection.fd());
  return link.connection.release();
}

void Connections::note_certificates(ConnectionIndex which, Time now) {
  if (!engine_.observer()) return;
  const auto wall_now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto note = [&](std::optional<std::chrono::sys_seconds> end, bool is_own) {
    if (end)
      certificates_.note(which % engine_.nodes(),
                         {.node = links_[which].session.name(), .end = *end, .is_own = is_own}, now, wall_now,
                         *engine_.observer());
  };
  note(links_[which].connection.certificate_end(), false);
  note(links_[which].connection.own_certificate_end(), true);
}

void Connections::note_change(ConnectionIndex which) noexcept {
  (which < engine_.nodes() ? changes_.commands : changes_.listeners) = true;
}

}  // namespace redlock::inline v1::detail
