#include "benchmark/measure/servers.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "redlock/core/wire/marker.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::benchmark {

std::string mark(Redlock& client, const testing::LocalNodes& servers) {
  static_cast<void>(client.lock("mark").value());
  std::optional<std::string> text;
  for (const std::uint16_t port : ports_of(servers)) {
    testing::RawClient server{port};
    for (text = {}; !text; std::this_thread::sleep_for(std::chrono::milliseconds{1}))
      text = server.get(core::marker_key);
  }
  return core::Marker::parse(*text).value().beginning();
}

}  // namespace redlock::benchmark
