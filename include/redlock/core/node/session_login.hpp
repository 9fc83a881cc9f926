// How a connection logs in, and whether the server has accepted it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/pending_replies.hpp"
#include "redlock/core/node/send_buffer.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/login/credentials.hpp"

namespace redlock::inline v1::core {

/// The login of a connection. It may change at any time:
///
///     due ── said, in the handshake or by AUTH ─▶ said ─▶ accepted
///      ▲                                            └───▶ refused
///      └── other credentials, or the same ones once more after a refusal
///
/// A server that refuses AUTH on a connection that has logged in leaves the connection as it was (before Redis 6.0 it logs
/// the connection out). There is no command for going back to no credentials: these are accepted without one.
class SessionLogin {
 public:
  explicit SessionLogin(Login login) : login_{std::move(login)} {}

  /// For the next handshake.
  [[nodiscard]] const Login& login() const noexcept { return login_; }
  [[nodiscard]] Credentials credentials() const { return {login_.user, login_.password}; }
  [[nodiscard]] bool is_accepted() const noexcept { return state_ == State::accepted; }

  /// Takes other credentials, or tries the same ones once more if they were refused. Returns true if they are others.
  bool change(const Credentials& given) {
    const bool is_other = given.user != login_.user || given.password != login_.password;
    if (is_other) {
      login_.user = given.user;
      login_.password = given.password;
      was_refused_ = false;
    }
    if (is_other || state_ == State::refused) state_ = State::due;
    return is_other;
  }

  void begin_handshake() noexcept {
    state_ = State::said;
    unanswered_ = 0;
  }
  /// The server has accepted what the handshake said; other credentials may be due meanwhile.
  void end_handshake() noexcept {
    if (state_ == State::said) state_ = State::accepted;
  }
  /// Queues AUTH on a connection that has logged in before, if that is due.
  void say_if_due(SendBuffer& out, PendingReplies& pending, Time now) {
    if (state_ != State::due) return;
    redlock::detail::WipedString bytes;
    if (!append_login(bytes, login_)) return static_cast<void>(state_ = State::accepted);
    pending.make_room();
    out.add_secret(bytes);
    pending.push({.always_read = true, .is_login = true}, now);
    ++unanswered_;
    state_ = State::said;
  }
  /// The server has answered that command. Returns true if it refuses these credentials for the first time.
  bool answered(const Reply& reply) noexcept {
    if (--unanswered_ > 0 || state_ != State::said) return false;  // others were said or are due since
    state_ = reply.is(Reply::Kind::error) ? State::refused : State::accepted;
    return state_ == State::refused && !std::exchange(was_refused_, true);
  }

 private:
  enum class State : std::uint8_t { due, said, accepted, refused };

  Login login_;
  State state_ = State::due;
  int unanswered_ = 0;
  bool was_refused_ = false;
};

}  // namespace redlock::inline v1::core
