#include "benchmark/measure/servers.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "redlock/core/wire/marker.hpp"

namespace redlock::benchmark {

Wording mark(Redlock& client, const testing::LocalNodes& servers) {
  const Lease lease = client.lock("mark").value();
  Wording wording{.owner_end = std::string{lease.owner_value().substr(owner_digits)}};
  for (const RawAddress& address : addresses_of(servers)) {
    NodeConnection server{address};
    std::optional<std::string> text;
    for (; !text; std::this_thread::sleep_for(std::chrono::milliseconds{1}))
      text = server.ask({"GET", core::marker_key});
    const std::string beginning = core::Marker::parse(*text).value().beginning();
    wording.lock_ends.push_back(core::RequiredMarker{beginning, core::Marker::ending_of(*text)}.arguments());
  }
  return wording;
}

}  // namespace redlock::benchmark
