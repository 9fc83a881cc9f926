// A client in the middle of everything, with a server that says what it likes.
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
#include "unit/support/line.hpp"
#include "unit/support/recorder.hpp"

namespace redlock::testing {

/// One node, one connection, and an operation of every kind under way.
class Conversation {
 public:
  enum class Since { handshake, login, ready };

  explicit Conversation(Since since) : engine_{{settings(since)}, std::chrono::milliseconds{500}, 1} {
    session().wake(at({}));
    session().take_dial();
    engine_.connected(0, at({}));
    if (since == Since::ready)
      for (const core::Reply& reply : greeting_replies("run")) engine_.answered(0, reply, at({}));
    submit(acquisition_);
    submit(inspection_);
    submit(extension_);
    submit(removal_);
    say();
  }

  void hear(std::string_view piece) {
    if (session().has_errand()) return;  // the connection is being left
    reader_.feed(piece.data(), piece.size());
    engine_.heard(0, at({}));
    while (const core::Reply* reply = reader_.next()) engine_.answered(0, *reply, at({}));
    if (reader_.error()) engine_.disconnected(0, {NodeStatus::protocol_error, reader_.error()}, at({}));
    say();
  }

  /// No more is heard. Checks what has come of everything that was `heard`.
  void end(std::string_view heard) {
    engine_.on_time(at(std::chrono::minutes{1}));
    say();
    const auto closing = session().take_closing();
    if (closing) said_ += closing->unsent;
    must(engine_.active() == 0, "every operation ends");
    must(said_.size() < most_said(), "a server cannot make a client talk without end");
    check_yes(acquisition_->granted(), heard, "+OK\r\n");
    check_yes(extension_->outcome() == core::Extension::Outcome::extended, heard, ":1\r\n");
    check_yes(removal_->outcome() == Release::released, heard, ":1\r\n");
    if (acquisition_->granted()) return;
    const bool broke = closing && !closing->graceful;
    must(broke || !has_said(claim("acquirer").set_command()) || has_said(claim("acquirer").release_command()),
         "a failed attempt is undone");
    check_pause();
  }

  /// What the callers are told.
  [[nodiscard]] std::string outcome() const {
    std::ostringstream out;
    out << static_cast<int>(acquisition_->failure().value_or(Errc{})) << report(acquisition_->tally())
        << static_cast<int>(extension_->outcome()) << report(extension_->tally())
        << static_cast<int>(removal_->outcome()) << report(removal_->tally()) << report(inspection_->tally());
    return out.str();
  }

 private:
  /// Every script in the handshake, and once more where the server says that it does not know it; and some words.
  [[nodiscard]] static std::size_t most_said() {
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
  static std::shared_ptr<core::LeaseState> tenure(const char* owner) {
    return example_tenure(std::chrono::seconds{1}, claim(owner));
  }
  core::Session& session() { return engine_.session(0); }

  template <class Kind>
  void submit(const core::Ref<Kind>& operation) {
    engine_.submit(core::Ref<core::Operation>{operation.get()}, at({}));
  }
  void say() {
    said_ += session().unsent();
    session().sent(session().unsent().size());
  }

  [[nodiscard]] bool has_said(const std::string& command) const { return said_.find(command) != said_.npos; }

  static void check_yes(bool is_yes, std::string_view heard, std::string_view word) {
    must(!is_yes || heard.find(word) != heard.npos, "no yes is counted that the server did not say");
  }
  void check_pause() const {
    using namespace std::chrono_literals;
    core::Retry retry{core::never};
    const auto again = retry.after(*acquisition_->failure(), acquisition_->tally(), at({}), at(1s), 7);
    must(!again || (*again > at(1s) && *again < at(2s)), "no server makes a waiting call hurry or sleep");
  }

  /// As a line, which is checked on the way.
  static std::string report(const core::Tally& tally) {
    const core::Tally::Ballot& ballot = tally[0];
    std::ostringstream out;
    out << NodeReport{"node", ballot.trouble.status, ballot.trouble.message, ballot.owner, ballot.ttl};
    must(is_one_line(out.view()) && out.view().size() < 1000, "a report is one line, and not a long one");
    out << static_cast<int>(ballot.mark) << '\n';
    return out.str();
  }

  core::Engine engine_;
  redlock::detail::Reader reader_;
  std::string said_;
  const core::Ref<core::Acquisition> acquisition_{
      new core::Acquisition{claim("acquirer"), 1, core::Acquisition::Purpose::wait}};
  const core::Ref<core::Inspection> inspection_{
      new core::Inspection{"key", 1, std::chrono::milliseconds{50}}};
  const core::Ref<core::Extension> extension_{new core::Extension{tenure("extender"), 1}};
  const core::Ref<core::ReleaseOperation> removal_{new core::ReleaseOperation{tenure("releaser"), 1}};
};

}  // namespace redlock::testing
