#include "tool/run/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "tool/time_text.hpp"
#include "values/printable.hpp"

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
  while (!rest.empty() && left-- > 0) rest.remove_prefix(detail::printable_character(rest));
  return text.substr(0, text.size() - rest.size());
}

std::string reason_of(const Observer::Attempt& attempt) {
  std::ostringstream text;
  if (attempt.failure != Errc::held) {
    text << "too few nodes vote";
  } else {
    text << "held";
    if (attempt.holder) text << " by " << *attempt.holder;
    if (attempt.holder && attempt.holder->ttl) text << ", " << readable(*attempt.holder->ttl) << " left";
  }
  return text.str();
}

}  // namespace

Progress::Progress(const std::string& resource, Verbosity verbosity, std::shared_ptr<Observer> next, Now now)
    : resource_{detail::printable(resource)},
      verbosity_{verbosity},
      next_{std::move(next)},
      now_{std::move(now)} {}

void Progress::attempted(const Attempt& attempt) {
  if (next_) next_->attempted(attempt);
  const std::lock_guard lock{mutex_};
  if (verbosity_ == Verbosity::quiet || is_over_ || !attempt.failure) return;
  const Clock::time_point now = now_();
  if (!waits_since_) waits_since_ = now;
  if (now - *waits_since_ >= std::chrono::seconds{1})
    write("waiting for " + resource_ + ": " + reason_of(attempt), now);
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
void Progress::node_changed(const Node& event) {
  if (next_) next_->node_changed(event);
}
void Progress::dropped(std::uint64_t events) {
  if (next_) next_->dropped(events);
}

void Progress::nodes_awaited(std::span<const NodeReport> nodes) {
  const std::lock_guard lock{mutex_};
  if (verbosity_ == Verbosity::quiet) return;
  clear_line();
  std::cerr << "redlock: waiting for nodes that will vote again";
  for (const NodeReport& report : nodes)
    if (report.votes_in) std::cerr << "\n  " << report;
  std::cerr << std::endl;
}

void Progress::end(const Lease* taken) {
  const std::lock_guard lock{mutex_};
  is_over_ = true;
  clear_line();
  if (verbosity_ != Verbosity::verbose || !taken) return;
  std::cerr << "redlock: took " << resource_ << " after " << readable(now_() - begun_) << ", token "
            << taken->fencing_token().value() << std::endl;
}

/// Precondition: the mutex is held.
void Progress::write(const std::string& text, Clock::time_point now) {
  const bool updates_line = has_terminal();
  const auto interval = updates_line ? std::chrono::seconds{1} : std::chrono::seconds{60};
  if (written_at_ && now - *written_at_ < interval) return;
  written_at_ = now;
  if (updates_line)
    std::cerr << '\r' << fitted(text) << "\x1b[K" << std::flush;
  else
    std::cerr << "redlock: " << text << std::endl;
  has_line_ = has_line_ || updates_line;
}

/// Precondition: the mutex is held.
void Progress::clear_line() {
  if (std::exchange(has_line_, false)) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace redlock::tool
