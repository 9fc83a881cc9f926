// For any bytes on the second connection of a node, split in any way: watchers hear only what the server has sent, and not too
// often, and only leases whose keys may have changed are read again.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/choices.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/pieces.hpp"
#include "io/reader.hpp"
#include "redlock/core/lease/key_watcher.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/session_harness.hpp"

namespace {

using namespace redlock::testing;
namespace core = redlock::core;

constexpr std::array<const char*, 2> watched{"key", "app:{17}"};
constexpr std::string_view member = "0123456789abcdef";

/// Two keys of one node are watched. What the listeners tell is noted.
class FuzzedListener final : core::Watcher {
 public:
  explicit FuzzedListener(bool is_ready) {
    listeners_.add(*this);
    listeners_.node_connected(0, true, at({}));
    for (std::size_t which = 0; which < watched.size(); ++which) {
      core::Claim claim = example_claim();
      claim.key = watched.at(which);
      leases_.push_back(example_lease(std::chrono::hours{1}, std::move(claim)));
      keys_.add(leases_.back(), at({}), at({}));
    }
    keys_.on_time(at({}), outbox_);  // connects the listener
    must(session().take_dial(), "a listener that is needed is connected");
    session().connected();
    if (is_ready)
      for (const core::Reply& reply : {number(7), subscribed(), subscribed()})
        listeners_.received(0, reply, at({}));
    keys_.on_time(at({}), outbox_);  // arms both keys
    outbox_.take();
    heard = {};
  }

  void receive(std::string_view piece) {
    if (session().has_errand()) return;  // the connection is being closed
    reader_.feed(piece.data(), piece.size());
    while (const core::Reply* const reply = session().has_errand() ? nullptr : reader_.next())
      listeners_.received(0, *reply, at({}));
    if (!session().has_errand() && reader_.error())
      listeners_.disconnected(0, {redlock::NodeStatus::protocol_error, reader_.error()}, at({}));
  }

  struct Heard {
    std::vector<std::string> keys;
    std::vector<std::string> messages;  // their channels and contents
    std::size_t all_changed = 0;
    bool is_blind = false;
    std::optional<std::string> warning;
    bool operator==(const Heard&) const = default;
  };
  Heard heard;

  /// Checks what follows from the bytes that were received.
  void end(std::string_view received) {
    heard.is_blind = listeners_.is_blind(0);
    heard.warning = listeners_.take_warning();
    for (const auto* const texts : {&heard.keys, &heard.messages})
      for (const std::string& text : *texts)
        must(received.find(text) != received.npos, "watchers hear only what the server has sent");
    // 1000 looks and two at each key, and twice all keys: when the connection is ready, and when it is lost.
    must(heard.keys.size() + heard.messages.size() / 2 + watched.size() * heard.all_changed <=
             1000 + 2 * watched.size() + 2 * watched.size(),
         "a node causes a bounded number of looks");
    must(session().unsent().size() < 300, "nothing is sent on this connection but the handshake");
    if (heard.warning)
      must(heard.warning->size() < 1000 && is_printable(*heard.warning), "a warning is short and printable");
    check_reads();
  }

 private:
  static core::Reply subscribed() {
    return array_reply({string_reply("subscribe"), string_reply("channel"), number(1)});
  }

  void key_changed(core::NodeIndex, std::string_view key, core::Time) override {
    heard.keys.emplace_back(key);
  }
  void all_keys_changed(core::NodeIndex, core::Time) override { ++heard.all_changed; }
  void message(core::NodeIndex, std::string_view channel, std::string_view content, core::Time) override {
    heard.messages.emplace_back(channel);
    heard.messages.emplace_back(content);
  }

  /// A lease is read, once, if and only if its key may have changed.
  void check_reads() {
    keys_.on_time(at({}), outbox_);
    const std::vector<Sent> sent = outbox_.take();
    for (const auto& lease : leases_) {
      const std::string& key = lease->claim.key;
      const std::string read =
          core::command({"GETRANGE", key, "0", std::to_string(lease->claim.owner.size())});
      const auto reads = std::ranges::count(sent, read, &Sent::command);
      const bool may_have_changed = heard.all_changed > 0 || std::ranges::count(heard.keys, key) > 0;
      must(reads == (may_have_changed ? 1 : 0), "a key is read, once, if and only if it may have changed");
    }
    must(sent.size() <= 1 + 2 * watched.size(), "a read takes few commands");
  }
  core::Session& session() { return listeners_.session(0); }

  static core::Session::Settings settings() {
    core::Session::Settings settings = example_settings();
    settings.login.turn_channel = core::turn_channel(member);
    return settings;
  }

  core::Listeners listeners_{{settings()}};
  std::vector<std::shared_ptr<core::LeaseState>> leases_;
  core::KeyWatcher keys_{listeners_, 1};
  RecordingOutbox outbox_{1};
  redlock::detail::Reader reader_;
};

FuzzedListener::Heard listen(std::string_view stream, bool is_ready, Cut cut) {
  FuzzedListener listener{is_ready};
  in_pieces(stream, cut, [&](std::string_view piece) { listener.receive(piece); });
  listener.end(stream);
  return listener.heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices{{reinterpret_cast<const char*>(data), size}};
  const std::size_t options = choices.next();
  const std::string_view part = choices.take(size);
  std::string stream;
  // Short inputs can then also exceed the limits.
  for (std::size_t times = (options & 2) != 0 ? 30 : 1; times > 0; --times) stream += part;
  const bool is_ready = (options & 1) != 0;
  const FuzzedListener::Heard heard = listen(stream, is_ready, Cut::whole);
  for (const Cut cut : small_cuts)
    must(listen(stream, is_ready, cut) == heard, "what is heard does not depend on the pieces");
  return 0;
}
