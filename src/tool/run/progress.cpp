#include "tool/run/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <utility>

#include "tool/time_text.hpp"
#include "values/printable.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// The longest line that does not wrap.
std::size_t width_of_terminal() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

std::string text_of(const std::string& resource, const std::optional<Holder>& holder) {
  std::ostringstream text;
  text << "waiting for " << detail::printable(resource) << ": held";
  if (holder) text << " by " << *holder;
  if (holder && holder->ttl)
    text << ", " << readable(std::chrono::floor<milliseconds>(*holder->ttl)) << " left";
  return text.str();
}

}  // namespace

Progress::Progress(std::string resource, Verbosity verbosity)
    : resource_{std::move(resource)},
      verbosity_{verbosity},
      is_terminal_{::isatty(STDERR_FILENO) == 1},
      begun_{Clock::now()} {}

Progress::~Progress() { clear_line(); }

std::chrono::nanoseconds Progress::interval() const noexcept {
  return std::chrono::seconds{is_terminal_ && verbosity_ != Verbosity::quiet ? 1 : 10};
}

void Progress::held(const std::optional<Holder>& holder) {
  if (verbosity_ == Verbosity::quiet) return;
  const Clock::time_point now = Clock::now();
  if (is_terminal_) {
    std::cerr << '\r' << text_of(resource_, holder).substr(0, width_of_terminal()) << "\x1b[K" << std::flush;
    has_line_ = true;
  } else if (!last_ || now - *last_ >= std::chrono::minutes{1}) {
    std::cerr << "redlock: " << text_of(resource_, holder) << std::endl;
    last_ = now;
  }
}

void Progress::nodes_awaited(std::span<const NodeReport> nodes) {
  if (verbosity_ == Verbosity::quiet) return;
  clear_line();
  std::cerr << "redlock: waiting for nodes that will vote again";
  for (const NodeReport& report : nodes)
    if (report.votes_in) std::cerr << "\n  " << report;
  std::cerr << std::endl;
}

void Progress::taken(const Lease& lease) {
  clear_line();
  if (verbosity_ != Verbosity::verbose) return;
  std::cerr << "redlock: took " << detail::printable(resource_) << " after "
            << readable(std::chrono::floor<milliseconds>(Clock::now() - begun_)) << ", token "
            << lease.fencing_token().value() << std::endl;
}

void Progress::clear_line() {
  if (std::exchange(has_line_, false)) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace redlock::tool
