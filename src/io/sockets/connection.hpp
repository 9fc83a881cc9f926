// The socket of one connection: resolving, connecting, sending, receiving.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/reader.hpp"
#include "io/sockets/resolver.hpp"
#include "io/sockets/transport.hpp"
#include "io/tls/tls_context.hpp"
#include "os/descriptor.hpp"
#include "redlock/clock.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

/// Never blocks. Only the reactor's driver dials and closes. Sending and receiving happen under the client's mutex. The
/// caller reports failures to the session, which decides what to do.
class Connection {
 public:
  /// `limits`: of each reply. `tls`: made by the first dial if it is null, and the endpoint needs it. `connect_timeout`: after
  /// how long the caller gives up a dial.
  Connection(Endpoint endpoint, ReplyLimits limits, Clock::duration connect_timeout,
             std::shared_ptr<TlsContext> tls = nullptr)
      : endpoint_{std::move(endpoint)},
        limits_{limits},
        connect_timeout_{connect_timeout},
        tls_{std::move(tls)} {}

  /// The descriptor to poll; -1 if there is none.
  [[nodiscard]] int fd() const noexcept {
    if (transport_) return transport_->fd();
    return state_ == State::resolving ? resolution_->fd() : socket_.get();
  }
  [[nodiscard]] short events(bool has_unsent) const noexcept;
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::open; }
  /// Bytes that were taken have yet to be sent: call `send` again, with nothing if need be.
  [[nodiscard]] bool has_unsent() const noexcept { return transport_ && transport_->has_unsent(); }

  enum class Dial { pending, connected, failed };
  /// Starts: looks up the name, then tries one address after the other, with the handshake of TLS if it is to be used. It
  /// begins with the address that worked last. Each address but the last has an equal share of the time that is left, so that
  /// one that does not answer leaves time for the others.
  Dial dial();
  /// Continues dialling once `fd()` is ready or the time is `timer()`.
  Dial proceed();
  /// When the next address has its turn.
  [[nodiscard]] Clock::time_point timer() const noexcept { return share_ends_; }
  /// Why it failed: after `Dial::failed`, or after sending or receiving found the connection broken.
  [[nodiscard]] const core::Trouble& trouble() const noexcept { return trouble_; }

  /// When the server's certificate ends; none without TLS. Precondition: open.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> certificate_end() const {
    return transport_->certificate_end();
  }
  /// When the client's certificate ends; none if it has none. Precondition: open.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> own_certificate_end() const {
    return transport_->own_certificate_end();
  }

  /// How much was taken; less than all when the socket's buffer is full. None: the connection is broken. Precondition:
  /// open, as for `receive`.
  std::optional<std::size_t> send(std::string_view bytes);

  enum class Received { all, part, failed };
  /// Reads what has arrived, at most 64 KiB, and hands each whole reply to `each(const core::Reply&)`. Returns `part` if
  /// more may be readable, and `failed` if the connection is broken, or what came is not understood. `room`: for the bytes.
  /// One for all connections stays in the processor's cache.
  template <class Each>
  Received receive(Transport::Room& room, Each&& each) {
    for (int part = 0; part < 2; ++part) {
      const Transport::Received got = transport_->receive(room.data(), room.size());
      if (got.size > 0) reader_->feed(room.data(), got.size);
      has_received_ |= got.size > 0;
      while (const core::Reply* reply = got.size > 0 ? reader_->next() : nullptr) each(*reply);
      if (got.size > 0 && !is_understood()) return Received::failed;
      if (got.ended) take_trouble();
      if (got.ended) return Received::failed;
      if (!got.more) return Received::all;
    }
    return Received::part;
  }

  /// Closes the connection and returns its open transport, so that the caller can read it to the end. Returns null if
  /// the connection was not open.
  [[nodiscard]] std::unique_ptr<Transport> release() noexcept;
  void close() noexcept { static_cast<void>(release()); }
  void close_in_child() const noexcept {
    if (resolution_) resolution_->close_in_child();
    socket_.close_in_child();
    if (transport_) transport_->close_in_child();
  }

 private:
  enum class State { closed, resolving, connecting, securing, open };

  void begin_addresses(std::vector<Address>);
  Dial connect_next();
  [[nodiscard]] bool is_overdue() const noexcept;
  Dial secure();
  Dial shake_hands();
  Dial fail(core::Trouble trouble);
  void take_trouble();
  [[nodiscard]] std::vector<Address> unix_address() const;
  bool is_understood();

  Endpoint endpoint_;
  ReplyLimits limits_;
  Clock::duration connect_timeout_;
  State state_ = State::closed;
  Clock::time_point dial_until_{};
  std::shared_ptr<Resolution> resolution_;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  std::size_t addresses_left_ = 0;  // that this dial has not tried yet
  std::optional<Address> worked_;   // the address of the last connection, until the next dial
  Clock::time_point share_ends_ = core::never;
  Descriptor socket_;  // while connecting
  std::shared_ptr<TlsContext> tls_;
  bool may_resume_ = true;                // the next handshake may resume a session
  std::unique_ptr<Transport> transport_;  // while securing and open
  std::unique_ptr<Reader> reader_;
  bool has_received_ = false;  // something over this transport
  core::Trouble trouble_;
};

}  // namespace redlock::inline v1::detail
