#include "benchmark/measure/servers.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "redlock/core/wire/marker.hpp"

namespace redlock::benchmark {

std::string mark(Redlock& client, const testing::LocalNodes& servers) {
  static_cast<void>(client.lock("mark").value());
  std::optional<std::string> text;
  for (const RawAddress& address : addresses_of(servers)) {
    NodeConnection server{address};
    for (text = {}; !text; std::this_thread::sleep_for(std::chrono::milliseconds{1}))
      text = server.ask({"GET", core::marker_key});
  }
  return core::Marker::parse(*text).value().beginning();
}

}  // namespace redlock::benchmark
