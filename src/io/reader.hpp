// Parses replies, with hiredis if they are more than a line.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "redlock/core/wire/reply.hpp"

struct redisReader;

namespace redlock::inline v1::detail {

struct ReplyInProgress;

/// The limits of one reply: the sum over all its strings, and over all its arrays.
struct ReplyLimits {
  std::size_t text = 65536;     // bytes
  std::size_t elements = 4096;  // enough for ROLE of a master with hundreds of replicas
};

/// Parses RESP2 from a server that may be malicious: a reply larger than any valid reply to our commands is refused
/// before memory is allocated for it, and of the text of an error only the first 4 KiB are kept. The bytes may arrive in
/// pieces of any size.
class Reader {
 public:
  explicit Reader(ReplyLimits limits = {});
  ~Reader();

  void feed(const char* bytes, std::size_t size);
  /// Returns the next complete reply, or null if more bytes are needed or the data is invalid (see `error`). The pointer
  /// is valid until the next call.
  [[nodiscard]] const core::Reply* next();
  /// Why the stream cannot be parsed any further; null if it can.
  [[nodiscard]] const char* error() const noexcept;

 private:
  struct Free {
    void operator()(redisReader*) const noexcept;
  };
  [[nodiscard]] const core::Reply* next_line() noexcept;
  void pass_lines_on();

  std::unique_ptr<redisReader, Free> reader_;
  std::unique_ptr<ReplyInProgress>
      in_progress_;  // the address must not change: hiredis passes it to callbacks
  // Bytes that hiredis has not got yet. Most replies are one line, which is read here in a third of hiredis' time.
  std::array<char, 64> lines_{};
  std::size_t lines_begin_ = 0;
  std::size_t lines_end_ = 0;
};

}  // namespace redlock::inline v1::detail
