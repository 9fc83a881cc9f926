#include "tool/run/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "redlock/core/base/printable.hpp"
#include "tool/line_text.hpp"
#include "tool/output.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// Whether a line on stderr can be updated: it is a terminal, and no other job is using it.
bool has_terminal() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp() &&
         std::string_view{kind ? kind : ""} != "dumb";
}

/// The beginning of the text that fits into one line of the terminal. Does not cut characters.
std::string fitted(const std::string& text) {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::size_t left = is_known ? size.ws_col - 1U : 79U;
  std::string_view rest = text;
  while (!rest.empty() && left-- > 0) rest.remove_prefix(core::printable_character(rest));
  return text.substr(0, text.size() - rest.size());
}

/// `held by web3:4711 …`, or what else is in the way.
std::string state_of(const std::optional<Holder>& holder) {
  if (holder && holder->is_kept()) return "kept by at_least";
  std::ostringstream text;
  text << "held";
  if (holder) text << " by " << *holder;
  return text.str();
}

std::string reason_of(const Observer::Attempt& attempt) {
  if (attempt.failure != Errc::held) return "too few nodes vote";
  if (attempt.kind == Observer::Kind::seat) return "all seats are taken";
  const std::string left =
      attempt.holder && attempt.holder->ttl ? ", " + readable(*attempt.holder->ttl) + " left" : std::string{};
  return state_of(attempt.holder) + left;
}

}  // namespace

Progress::Progress(std::vector<std::string> resources, Verbosity verbosity, std::shared_ptr<Observer> next,
                   Now now)
    : resources_{std::move(resources)}, verbosity_{verbosity}, next_{std::move(next)}, now_{std::move(now)} {}

void Progress::attempted(const Attempt& attempt) {
  if (next_) next_->attempted(attempt);
  const std::lock_guard lock{mutex_};
  const Clock::time_point now = now_();
  note_quorum(attempt.failure != Errc::no_quorum, now);
  if (is_silent() || !attempt.failure) return;
  // An attempt at several locks ends with the first one that is held.
  if (resources_.size() > 1 && attempt.failure == Errc::held && !attempt.holder) return;
  // Nobody who has one of several seats is the holder of the semaphore.
  if (attempt.holder && attempt.kind != Kind::seat) holder_ = attempt.holder;
  if (positions_.empty() && is_due(now))
    write("waiting for " + core::printable(resource_of(attempt.resource)) + ": " + reason_of(attempt), now);
}
void Progress::lined_up(const Line& event) {
  if (next_) next_->lined_up(event);
  const std::lock_guard lock{mutex_};
  if (is_silent() || event.step == LineStep::refused || event.step == LineStep::bypassed) return;
  const auto before =
      positions_.empty() ? std::pair<const std::string, std::uint64_t>{} : *positions_.rbegin();
  if (event.position == 0)
    positions_.erase(event.resource);
  else
    positions_[event.resource] = event.position;
  if (positions_.empty()) return;
  // Of several lines, a call waits in the last one. A place changes when the lock changes hands.
  const auto& [resource, position] = *positions_.rbegin();
  if (before.second != 0 && *positions_.rbegin() != before) holder_.reset();
  const Clock::time_point now = now_();
  if (event.resource != resource || !is_due(now)) return;
  const std::string& shown = resource_of(resource);
  if (!holder_ && ask_holder_) holder_ = ask_holder_(shown);
  write("waiting for " + core::printable(shown) + ": " + ordinal(position) + " in line" +
            (holder_ ? ", " + state_of(holder_) : ""),
        now);
}
void Progress::waited(const Wait& event) {
  if (next_) next_->waited(event);
}
void Progress::ended(const Hold& event) {
  if (next_) next_->ended(event);
}
void Progress::extended(const Extension& event) {
  if (next_) next_->extended(event);
}
void Progress::broken(const Break& event) {
  if (next_) next_->broken(event);
}
void Progress::node_changed(const Node& event) {
  if (next_) next_->node_changed(event);
}
void Progress::certificate_seen(const Certificate& event) {
  if (next_) next_->certificate_seen(event);
}
void Progress::dropped(std::uint64_t events) {
  if (next_) next_->dropped(events);
}

void Progress::nodes_awaited(std::span<const NodeReport> nodes) {
  const std::lock_guard lock{mutex_};
  if (verbosity_ == Verbosity::quiet) return;
  clear_line();
  std::ostringstream message;
  message << "redlock: waiting for nodes that will vote again\n";
  for (const NodeReport& report : nodes)
    if (report.votes_in) message << "  " << report << '\n';
  tell(message.str());
}

void Progress::end_without_quorum(std::stop_source wait, Clock::duration patience) {
  const std::lock_guard lock{mutex_};
  wait_ = std::move(wait);
  patience_ = patience;
  no_quorum_since_.reset();
}

void Progress::ask_by(AskHolder ask) {
  const std::lock_guard lock{mutex_};
  ask_holder_ = std::move(ask);
}

void Progress::end(const Leases& taken) {
  const std::lock_guard lock{mutex_};
  is_over_ = true;
  clear_line();
  if (verbosity_ != Verbosity::verbose) return;
  for (const Lease& lease : taken)
    tell("redlock: took " + core::printable(lease.resource()) + " after " + readable(now_() - begun_) +
         ", token " + std::to_string(lease.fencing_token().value()) + '\n');
}

/// Precondition for this and all below: the mutex is held.
bool Progress::is_due(Clock::time_point now) {
  if (!waits_since_) waits_since_ = now;
  const auto interval = has_terminal() ? std::chrono::seconds{1} : std::chrono::seconds{60};
  return now - *waits_since_ >= std::chrono::seconds{1} && (!written_at_ || now - *written_at_ >= interval);
}

void Progress::note_quorum(bool had_quorum, Clock::time_point now) {
  if (had_quorum) return no_quorum_since_.reset();
  if (!no_quorum_since_) no_quorum_since_ = now;
  if (now - *no_quorum_since_ >= patience_) wait_.request_stop();
}

void Progress::write(const std::string& text, Clock::time_point now) {
  const bool updates_line = has_terminal();
  written_at_ = now;
  tell(updates_line ? '\r' + fitted(text) + "\x1b[K" : "redlock: " + text + '\n');
  has_line_ = has_line_ || updates_line;
}

void Progress::clear_line() {
  if (std::exchange(has_line_, false)) tell("\r\x1b[K");
}

}  // namespace redlock::tool
