// A client with operations of every kind under way, and a server that sends arbitrary bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include "fuzz/finding.hpp"
#include "io/reader.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "redlock/core/lock/retry.hpp"
#include "unit/support/handshake_replies.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/session_harness.hpp"

namespace redlock::testing {

/// One node with one connection, and an operation of every kind under way.
class Conversation {
 public:
  enum class Since { handshake, login, ready };

  explicit Conversation(Since since) : engine_{{settings(since)}, std::chrono::milliseconds{500}, 1} {
    session().wake(at({}));
    session().take_dial();
    engine_.connected(0);
    if (since == Since::ready)
      for (const core::Reply& reply : handshake_replies("run")) engine_.answered(0, reply, at({}));
    submit(acquisition_);
    submit(inspection_);
    submit(extension_);
    submit(release_);
    collect_sent();
  }

  void receive(std::string_view piece) {
    if (session().has_errand()) return;  // the connection is being closed
    reader_.feed(piece.data(), piece.size());
    while (const core::Reply* reply = reader_.next()) engine_.answered(0, *reply, at({}));
    if (reader_.error()) engine_.disconnected(0, {NodeStatus::protocol_error, reader_.error()}, at({}));
    collect_sent();
  }

  /// Ends all operations and checks their results. `received`: all bytes that the server has sent.
  void end(std::string_view received) {
    engine_.on_time(at(std::chrono::minutes{1}));
    collect_sent();
    const auto closing = session().take_closing();
    if (closing) sent_ += std::string_view{closing->unsent};
    must(engine_.active() == 0, "every operation ends");
    must(sent_.size() < most_sent(), "no server can make a client send without end");
    check_yes(acquisition_->granted(), received, "+OK\r\n");
    check_yes(extension_->outcome() == core::Extension::Outcome::extended, received, ":1\r\n");
    check_yes(release_->outcome() == Release::released, received, ":1\r\n");
    if (acquisition_->granted()) return;
    const bool broke = closing && !closing->graceful;
    must(broke || !has_sent(claim("acquirer").set_command()) || has_sent(claim("acquirer").release_command()),
         "a failed attempt is undone");
    check_pause();
  }

  /// The results that the callers get, as text.
  [[nodiscard]] std::string outcome() const {
    std::ostringstream out;
    out << static_cast<int>(acquisition_->failure().value_or(Errc{})) << report(acquisition_->tally())
        << static_cast<int>(extension_->outcome()) << report(extension_->tally())
        << static_cast<int>(release_->outcome()) << report(release_->tally()) << report(inspection_->tally());
    return out.str();
  }

 private:
  /// The size of every script twice, in the handshake and after a NOSCRIPT error, and of all other commands.
  [[nodiscard]] static std::size_t most_sent() {
    std::size_t sum = 2048;
    for (const core::Script* const script : core::all_scripts) sum += 2 * script->source.size();
    return sum;
  }
  static core::Session::Settings settings(Since since) {
    core::Session::Settings settings = example_settings();
    if (since == Since::login) settings.login = {.user = "ann", .password = "hunter2", .db = 3};
    return settings;
  }
  static core::Claim claim(const char* owner) {
    core::Claim claim = example_claim();
    claim.owner = owner;
    return claim;
  }
  static std::shared_ptr<core::LeaseState> lease(const char* owner) {
    return example_lease(std::chrono::seconds{1}, claim(owner));
  }
  core::Session& session() { return engine_.session(0); }

  template <class Kind>
  void submit(const core::Ref<Kind>& operation) {
    engine_.submit(core::Ref<core::Operation>{operation.get()}, at({}));
  }
  void collect_sent() {
    sent_ += session().unsent();
    session().sent(session().unsent().size());
  }

  [[nodiscard]] bool has_sent(const std::string& command) const { return sent_.find(command) != sent_.npos; }

  static void check_yes(bool is_yes, std::string_view received, std::string_view word) {
    must(!is_yes || received.find(word) != received.npos, "only a yes that the server sent is counted");
  }
  void check_pause() const {
    using namespace std::chrono_literals;
    core::Retry retry{core::never};
    const auto again = retry.after(*acquisition_->failure(), acquisition_->tally(), at({}), at(1s), 7);
    must(!again || (*again > at(1s) && *again < at(2s)),
         "no server can shorten or stretch the pause of a waiting call");
  }

  /// The report on the node, which is also checked, and its mark.
  static std::string report(const core::Tally& tally) {
    const core::Tally::Ballot& ballot = tally[0];
    std::ostringstream out;
    out << NodeReport{"node", ballot.trouble.status, ballot.trouble.message, ballot.owner, ballot.ttl};
    must(is_printable(out.view()) && out.view().size() < 1000,
         "a report is one line of less than 1000 bytes");
    out << static_cast<int>(ballot.mark) << '\n';
    return out.str();
  }

  core::Engine engine_;
  redlock::detail::Reader reader_;
  std::string sent_;
  const core::Ref<core::Acquisition> acquisition_{
      new core::Acquisition{claim("acquirer"), 1, core::Acquisition::Purpose::wait}};
  const core::Ref<core::Inspection> inspection_{
      new core::Inspection{"key", 1, std::chrono::milliseconds{50}}};
  const core::Ref<core::Extension> extension_{new core::Extension{lease("extender"), 1}};
  const core::Ref<core::ReleaseOperation> release_{new core::ReleaseOperation{lease("releaser"), 1}};
};

}  // namespace redlock::testing
