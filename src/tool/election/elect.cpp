#include "tool/election/elect.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "os/pause.hpp"
#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "tool/exit_code.hpp"
#include "tool/output.hpp"
#include "tool/run/signal_forwarder.hpp"

namespace redlock::tool {
namespace {

/// Between two tries while too few nodes vote. A signal ends this process then.
constexpr std::chrono::seconds pause_without_nodes{1};
/// Before a leader who was asked to give up stands again, so that whoever asked can get the lock.
constexpr std::chrono::seconds pause_after_request{2};

}  // namespace

Ending elect(const RunArguments& arguments) {
  SignalForwarder signals;  // outlives the runs, so that no signal between two of them is lost
  bool has_led = false;
  bool has_complained = false;
  for (;;) {
    bool are_nodes_missing = false;
    bool was_asked = false;
    try {
      const Ending ending = run(arguments, signals);
      if (!ending.was_terminated) return ending;
      has_led = true;
      has_complained = false;
      was_asked = ending.was_asked;
    } catch (const Error& error) {
      // Also if nodes refuse it: operators who change rights or certificates may mend that soon.
      if (!has_led || error.code() == Errc::invalid_argument) throw;
      if (!std::exchange(has_complained, true)) tell_briefly("redlock: " + std::string{error.what()} + '\n');
      are_nodes_missing = true;
    }
    if (are_nodes_missing) detail::pause_until(Clock::now() + pause_without_nodes, signals.stop());
    if (was_asked) detail::pause_until(Clock::now() + pause_after_request, signals.stop());
    if (const int signal = signals.stopped_by()) return {killed_by_signal + signal, signal};
    if (!are_nodes_missing) tell_briefly("redlock: stands for election again\n");
  }
}

}  // namespace redlock::tool
