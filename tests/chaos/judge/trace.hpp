// What the processes of a run have written down about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/judge/history.hpp"

namespace redlock::chaos {

/// Nanoseconds of CLOCK_BOOTTIME, the clock of deadlines, which all processes share and nothing shifts.
using simulation::Instant;
[[nodiscard]] Instant now();

/// One line of a log: "TIME WHAT NUMBER WORDS…".
struct Entry {
  enum class What : std::uint8_t {
    begin,  // a process has started; NUMBER is its id
    call,   // a call for lock NUMBER begins; words: resource
    hold,  // the call returned a lease; words: resource, token, deadline, and what is special: "signs" if its deadline moves
           // unseen, "shared" for a reader's, "downgraded" for that of a reader that was the writer
    extend,  // the lease was extended; words: deadline
    alive,   // a holder of a lease with "signs" still works
    end,     // the holder has stopped relying on its lease, which it is about to release or to hand over
    lost,    // the loss was reported; words: why
    fail,    // the call returned no lease; words: why
    open,    // so many descriptors are open
    fault,   // a fault begins, or ends; words: its text
    healed,  // all faults are over
  };
  Instant at = 0;
  What what = What::begin;
  int client = -1;         // whose log it is
  std::uint64_t life = 0;  // of the client: it dies and starts again
  std::uint64_t number = 0;
  std::vector<std::string> words;
};
[[nodiscard]] std::string_view name_of(Entry::What);

/// A log that one or more processes append to. Each line is one write(2), so a process that is killed leaves whole lines.
class Log {
 public:
  /// Throws std::system_error.
  explicit Log(const std::string& path);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `words`: separated by spaces. From any thread.
  void add(Instant at, Entry::What what, std::uint64_t number, std::string_view words = {});
  void add(Entry::What what, std::uint64_t number, std::string_view words = {}) {
    add(now(), what, number, words);
  }

 private:
  int file_;
};

/// The entries of one log, in its order. The last line of a log may be missing its end while it is being written: it is left
/// out. Throws std::runtime_error for a line that is none.
[[nodiscard]] std::vector<Entry> read_log(const std::string& path, int client);

}  // namespace redlock::chaos
