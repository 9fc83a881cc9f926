// A shared library that uses redlock. The host loads and unloads it.
#include <chrono>
#include <redlock/redlock.hpp>

/// Tries to take a lock on a node whose name is not found in time. Returns 0 if the result says that.
extern "C" __attribute__((visibility("default"))) int try_a_lock() {
  redlock::Redlock locks{{redlock::Endpoint{"redis://slow.example"}},
                         {.connect_timeout = std::chrono::milliseconds{50}}};
  return locks.try_lock("r").code() == redlock::Errc::no_quorum ? 0 : 1;
}
