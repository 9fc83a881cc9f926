// An engine of three nodes whose listeners a test controls.
#pragma once

#include <string>
#include <utility>

#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"

namespace redlock::testing {

inline core::Reply push_of(core::Reply keys) {
  return array_reply({string_reply("message"), string_reply("__redis__:invalidate"), std::move(keys)});
}
/// What a listener hears when the key was changed.
inline core::Reply push(const std::string& key) { return push_of(array_reply({string_reply(key)})); }

/// Makes the next command arm the key that it reads.
inline const std::string caching_on = core::command({"CLIENT", "CACHING", "YES"});
inline std::string tracking_on(int id) {
  return core::command({"CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(id), "OPTIN", "NOLOOP"});
}

/// All nodes are connected. The listeners have the client ids 100, 101 and 102.
struct ListeningEngine {
  ListeningEngine() { harness.make_ready(at(std::chrono::milliseconds{0})); }

  [[nodiscard]] core::ConnectionIndex listener(core::NodeIndex node) const { return engine.nodes() + node; }
  std::string take_bytes(core::ConnectionIndex connection) { return harness.take_bytes(connection); }
  void connect_listener(core::NodeIndex node, core::Time now) {
    core::Session& session = engine.session(listener(node));
    session.take_closing();
    CHECK(session.take_dial());
    engine.connected(listener(node));
    CHECK(take_bytes(listener(node)) ==
          core::command({"CLIENT", "ID"}) + core::command({"SUBSCRIBE", "__redis__:invalidate"}));
    engine.answered(listener(node), number(100 + static_cast<long long>(node)), now);
    CHECK_FALSE(session.ready());
    engine.answered(listener(node), subscribed(), now);
    CHECK(session.ready());
  }
  /// The listener's server answers a PING.
  void pong(core::NodeIndex node, core::Time now) {
    engine.answered(listener(node), array_reply({string_reply("pong"), string_reply("")}), now);
  }
  [[nodiscard]] bool is_quiet() {
    for (core::ConnectionIndex each = 0; each < engine.connections(); ++each)
      if (!engine.session(each).unsent().empty()) return false;
    return true;
  }
  static core::Reply subscribed() {
    return array_reply({string_reply("subscribe"), string_reply("__redis__:invalidate"), number(1)});
  }

  EngineHarness harness{3};
  core::Engine& engine = harness.engine;
};

}  // namespace redlock::testing
