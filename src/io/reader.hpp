// Bytes to replies, by hiredis' reader.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "redlock/core/wire/reply.hpp"

struct redisReader;

namespace redlock::inline v1::detail {

struct ReplyInProgress;

/// What one reply may hold, of all strings and of all arrays in it.
struct ReplyLimits {
  std::size_t text = std::size_t{1} << 20U;  // bytes
  std::size_t elements = 4096;               // a master with hundreds of replicas names them all
};

/// Parses RESP2 from a server that may be malicious: what is larger than any answer to our commands is
/// refused before memory is spent on it. How the bytes are cut into pieces makes no difference.
class Reader {
 public:
  explicit Reader(ReplyLimits limits = {});
  ~Reader();

  void feed(const char* bytes, std::size_t size);
  /// The next whole reply; null when more bytes are needed, or after nonsense (see `error`). Valid until the
  /// next call.
  [[nodiscard]] const core::Reply* next();
  /// Why the stream cannot be understood any further; null as long as it can.
  [[nodiscard]] const char* error() const noexcept;

 private:
  struct Free {
    void operator()(redisReader*) const noexcept;
  };
  std::unique_ptr<redisReader, Free> reader_;
  std::unique_ptr<ReplyInProgress> in_progress_;  // at a fixed address: the reader's functions know it
};

}  // namespace redlock::inline v1::detail
