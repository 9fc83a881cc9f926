#include "tool/election/elect.hpp"

#include <chrono>
#include <iostream>
#include <thread>

#include "redlock/error.hpp"

namespace redlock::tool {
namespace {

/// Between two tries while too few nodes answer. Nothing runs then, so a signal ends this process.
constexpr std::chrono::seconds pause_without_nodes{1};

bool may_pass(const Error& error) {
  return error.code() != Errc::invalid_argument && error.code() != Errc::misconfigured;
}

}  // namespace

Ending elect(const RunArguments& arguments) {
  bool has_led = false;
  bool has_complained = false;
  for (;;) try {
      const Ending ending = run(arguments);
      if (!ending.is_lost) return ending;
      has_led = true;
      has_complained = false;
      std::cerr << "redlock: stands for election again\n";
    } catch (const Error& error) {
      if (!has_led || !may_pass(error)) throw;
      if (!has_complained) std::cerr << "redlock: " << error.what() << '\n';
      has_complained = true;
      std::this_thread::sleep_for(pause_without_nodes);
    }
}

}  // namespace redlock::tool
