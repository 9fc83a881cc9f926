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

Connections::Connections(core::Engine& engine, const std::vector<Endpoint>& endpoints, Span connect_timeout)
    : engine_{engine}, polled_for_output_(engine.connections(), false), certificates_{engine.nodes()} {
  all_.reserve(engine.connections());
  const std::vector<std::shared_ptr<TlsContext>> tls = tls_contexts(endpoints);
  for (ConnectionIndex each = 0; each < engine.connections(); ++each)
    all_.emplace_back(endpoints[each % endpoints.size()], ReplyLimits{}, connect_timeout,
                      tls[each % endpoints.size()]);
}

void Connections::close_in_child() const noexcept {
  for (const Connection& connection : all_) connection.close_in_child();
}

void Connections::update(Time now) {
  bool is_good = true;
  for (ConnectionIndex each = 0; each < all_.size(); ++each) {
    run_errands(each, now);
    if (all_[each].is_open() && has_unsent(each)) is_good = flush_one(each, now) && is_good;
  }
  if (is_good) return;
  for (ConnectionIndex each = 0; each < all_.size(); ++each) run_errands(each, now);
}

void Connections::finish(Time until) {
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) {
    core::Session& session = engine_.session(node);
    if (all_[node].is_open() && (session.pending() > 0 || has_unsent(node)))
      closing_.add(all_[node].release(), WipedString{session.unsent()}, until);
  }
  closing_.finish(until);
}

// ── polling ─────────────────────────────────────────────────────────────────────────────────────────────────

void Connections::append_to(std::vector<pollfd>& polls) {
  for (ConnectionIndex each = 0; each < all_.size(); ++each) {
    const bool is_unsent = has_unsent(each);
    polled_for_output_[each] = is_unsent;
    polls.push_back({all_[each].fd(), all_[each].events(is_unsent), 0});
  }
  closing_.append_to(polls);
}

Time Connections::timer() const noexcept {
  Time first = closing_.timer();
  for (const Connection& connection : all_) first = std::min(first, connection.timer());
  return first;
}

bool Connections::has_unsent(ConnectionIndex which) const noexcept {
  return !engine_.session(which).unsent().empty() || all_[which].has_unsent();
}

bool Connections::need_more_than_polled() const noexcept {
  for (ConnectionIndex each = 0; each < all_.size(); ++each) {
    const core::Session& session = engine_.session(each);
    if (session.has_errand() || (!polled_for_output_[each] && has_unsent(each))) return true;
  }
  return false;
}

std::ptrdiff_t Connections::append_idle_to(std::vector<pollfd>& polls, bool with_ends) const {
  std::ptrdiff_t for_commands = 0;
  for (ConnectionIndex each = with_ends ? 0 : engine_.nodes(); each < all_.size(); ++each) {
    if (!all_[each].is_open()) continue;
    const bool is_listener = each >= engine_.nodes();
    const short events = is_listener ? POLLIN : POLLRDHUP;
    polls.push_back({all_[each].fd(), events, 0});
    for_commands += is_listener ? 0 : 1;
  }
  return for_commands;
}

void Connections::handle(const std::vector<pollfd>& polls, Time now, bool may_be_due,
                         const core::Operation* awaited) {
  // If a timer is due, read all connections first: an interrupted or outdated poll does not know all events.
  const bool is_timer_due = may_be_due && now >= engine_.timer();
  for (ConnectionIndex each = 0; each < all_.size(); ++each) {
    const bool is_due = (is_timer_due && all_[each].is_open()) || now >= all_[each].timer();
    if (is_due || (polls[each].revents != 0 && !may_stay_unread(each, polls[each], awaited)))
      handle_one(each, now);
  }
  if (!closing_.empty()) closing_.proceed(now);
  if (engine_.observer()) certificates_.on_time(now, *engine_.observer());
}

/// Replies that come after the decision are read with the next ones of their node: one system call for several.
bool Connections::may_stay_unread(ConnectionIndex which, const pollfd& polled,
                                  const core::Operation* awaited) const noexcept {
  if (!awaited || !awaited->done() || engine_.active() > 0) return false;
  const core::Session& session = engine_.session(which);
  return which < engine_.nodes() && polled.revents == POLLIN && session.ready() &&
         session.pending() <= most_left_unread;
}

void Connections::handle_one(ConnectionIndex which, Time now) {
  // The polled connection was given up meanwhile; its events do not concern its replacement.
  if (engine_.session(which).has_errand()) return;
  if (all_[which].is_open())
    read(which, now);
  else if (engine_.session(which).state() == core::Session::State::dialling)
    dial(which, all_[which].proceed(), now);
}

void Connections::read(ConnectionIndex which, Time now) {
  const Connection::Received received =
      all_[which].receive([&](const core::Reply& reply) { engine_.answered(which, reply, now); });
  engine_.session(which).left_unread(received == Connection::Received::part);
  if (received == Connection::Received::failed) engine_.disconnected(which, all_[which].trouble(), now);
}

/// Reads twice, because late replies to earlier commands may precede the end of the stream.
void Connections::read_stale(Time now) {
  const auto is_stale = [&](NodeIndex node) {
    return all_[node].is_open() && engine_.session(node).stale(now);
  };
  bool is_any_stale = false;
  stale_.clear();
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) {
    stale_.push_back({is_stale(node) ? all_[node].fd() : -1, POLLIN, 0});  // -1: not polled
    is_any_stale = is_any_stale || stale_.back().fd >= 0;
  }
  if (!is_any_stale || ::poll(stale_.data(), stale_.size(), 0) <= 0) return;
  for (NodeIndex node = 0; node < engine_.nodes(); ++node) {
    if (stale_[node].revents == 0 || !is_stale(node)) continue;
    read(node, now);
    if (engine_.session(node).ready()) read(node, now);
  }
}

void Connections::flush(Time now) {
  for (ConnectionIndex each = 0; each < all_.size(); ++each)
    if (all_[each].is_open() && has_unsent(each)) flush_one(each, now);
}

/// Returns false if the connection turned out to be broken.
bool Connections::flush_one(ConnectionIndex which, Time now) {
  const auto sent = all_[which].send(engine_.session(which).unsent());
  if (sent)
    engine_.session(which).sent(*sent);
  else
    engine_.disconnected(which, all_[which].trouble(), now);
  return sent.has_value();
}

void Connections::run_errands(ConnectionIndex which, Time now) {
  core::Session& session = engine_.session(which);
  while (session.has_errand()) {
    note_change(which);
    if (auto closing = session.take_closing()) {
      const NodeStatus why = session.trouble().status;
      if (why == NodeStatus::wrong_password || why == NodeStatus::auth_required) changes_.logins = true;
      std::unique_ptr<Transport> transport = all_[which].release();
      if (closing->graceful && transport)
        closing_.add(std::move(transport), std::move(closing->unsent), now + closing_time);
    }
    if (session.take_dial()) dial(which, all_[which].dial(), now);
  }
}

void Connections::dial(ConnectionIndex which, Connection::Dial outcome, Time now) {
  note_change(which);
  if (outcome == Connection::Dial::connected) {
    engine_.connected(which);
    note_certificates(which, now);
  }
  if (outcome == Connection::Dial::failed) engine_.disconnected(which, all_[which].trouble(), now);
}

void Connections::note_certificates(ConnectionIndex which, Time now) {
  if (!engine_.observer()) return;
  const auto wall_now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto note = [&](std::optional<std::chrono::sys_seconds> end, bool is_own) {
    if (end)
      certificates_.note(which % engine_.nodes(),
                         {.node = engine_.session(which).name(), .end = *end, .is_own = is_own}, now,
                         wall_now, *engine_.observer());
  };
  note(all_[which].certificate_end(), false);
  note(all_[which].own_certificate_end(), true);
}

void Connections::note_change(ConnectionIndex which) noexcept {
  (which < engine_.nodes() ? changes_.commands : changes_.listeners) = true;
}

}  // namespace redlock::inline v1::detail
