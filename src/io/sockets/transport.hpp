// How bytes travel over a connection that was made.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/descriptor.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::detail {

/// A connected socket, and the layer between it and the bytes of the protocol. Owns the socket and closes it. No call
/// blocks. Poll the socket for input always, and for output while `has_unsent()`.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// The descriptor to poll.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

  /// `again`: it failed, perhaps only because of what an earlier connection has left. One that does without it may succeed.
  enum class Handshake { pending, done, failed, again };
  /// Does what must be done before `send` and `receive`, in steps: call it again when the socket is ready.
  virtual Handshake shake_hands() { return Handshake::done; }

  /// Returns how many bytes were taken: fewer than given if there is no room now. Returns none if the connection is
  /// broken.
  virtual std::optional<std::size_t> send(std::string_view bytes) = 0;

  /// Bytes that were taken have yet to be written to the socket: call `send` again, with nothing if need be.
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }

  struct Received {
    std::size_t size = 0;  ///< 0: nothing has arrived.
    bool ended = false;    ///< The connection is broken, or the peer closed it.
    bool more = false;     ///< There may be more to receive now.
  };
  /// Room for what one call of `receive` may return. It keeps nothing back that a poll of the socket does not see.
  static constexpr std::size_t receive_size = 32768;
  using Room = std::array<char, receive_size>;
  /// Precondition: `size` is at least `receive_size`.
  virtual Received receive(char* bytes, std::size_t size) = 0;

  /// Nothing will be sent any more: the peer sees the end after the last byte.
  virtual void end_output() noexcept = 0;

  /// After the handshake: when the server's certificate ends. None without TLS.
  [[nodiscard]] virtual std::optional<std::chrono::sys_seconds> certificate_end() const {
    return std::nullopt;
  }
  /// When the certificate ends that the server gets of the client if it asks for one. None if there is none.
  [[nodiscard]] virtual std::optional<std::chrono::sys_seconds> own_certificate_end() const {
    return std::nullopt;
  }

  /// Why `send` or `receive` failed.
  [[nodiscard]] const core::Trouble& trouble() const noexcept { return trouble_; }
  void close_in_child() const noexcept { socket_.close_in_child(); }

 protected:
  explicit Transport(Descriptor socket) noexcept : socket_{std::move(socket)} {}
  void fail(core::Trouble trouble) { trouble_ = std::move(trouble); }

  std::string unsent_;  // what was taken and is not written yet, as it goes over the socket

 private:
  Descriptor socket_;
  core::Trouble trouble_;
};

/// The bytes as they are.
class PlainTransport : public Transport {
 public:
  explicit PlainTransport(Descriptor socket) noexcept : Transport{std::move(socket)} {}
  std::optional<std::size_t> send(std::string_view bytes) override;
  Received receive(char* bytes, std::size_t size) override;
  void end_output() noexcept override;
};

}  // namespace redlock::inline v1::detail
