// What all commands write, and whether anybody reads it.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <mutex>
#include <set>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <syncstream>

#include "redlock/clock.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/node_report.hpp"

namespace redlock::tool {

/// Writes to stderr what nobody may be kept waiting for, while a lock is held or waited for. The text is dropped, or its end, if
/// stderr cannot be written to within this time: a pipe that nobody reads is full, a terminal is stopped. Thread safe.
void tell(const std::string& text, std::chrono::milliseconds patience = {});
/// For a text that is worth a moment.
inline void tell_briefly(const std::string& text) { tell(text, std::chrono::milliseconds{100}); }
/// For the last words of a process, which also a slow reader should get.
inline void tell_at_the_end(const std::string& text) { tell(text, std::chrono::seconds{2}); }

/// The text of a warning; empty if this process has had the same one before. Thread safe.
inline std::string first_warning(std::string_view warning) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> had;
  const std::lock_guard lock{mutex};
  if (!had.emplace(warning).second) return {};
  return "redlock: warning: " + core::printable(warning, std::string::npos) + '\n';
}

/// Writes a warning, unless this process has written the same one before. Thread safe.
inline void warn(std::string_view warning) { std::osyncstream{std::cerr} << first_warning(warning); }
/// The same, as `tell_briefly`.
inline void warn_briefly(std::string_view warning) { tell_briefly(first_warning(warning)); }

/// What each node says, a line for each.
inline void write_reports(std::ostream& out, std::span<const NodeReport> reports) {
  for (const NodeReport& report : reports) out << "  " << report << '\n';
}

/// Writes to stdout for std::cout while it exists, and notes the first error.
class Output final : std::streambuf {
 public:
  Output() : stdout_{std::cout.rdbuf(this)} {}
  ~Output() override { std::cout.rdbuf(stdout_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Writes what is buffered. Returns the number of the system's error if something could not be written, else 0.
  [[nodiscard]] int finish() {
    std::cout.flush();
    return error_;
  }

 private:
  int_type overflow(int_type c) override {
    return traits_type::eq_int_type(c, traits_type::eof())
               ? traits_type::not_eof(c)
               : noted(stdout_->sputc(traits_type::to_char_type(c)), traits_type::eof());
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::streamsize written = stdout_->sputn(text, size);
    if (written < size) note();
    return written;
  }
  int sync() override { return noted(stdout_->pubsync(), -1); }

  int noted(int result, int failure) {
    if (result == failure) note();
    return result;
  }
  void note() {
    if (error_ == 0) error_ = errno != 0 ? errno : EIO;
  }

  std::streambuf* const stdout_;
  int error_ = 0;
};

/// Returns true if stdout is a pipe that nobody reads any more.
[[nodiscard]] inline bool is_output_closed() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace redlock::tool
