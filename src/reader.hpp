// Bytes to replies, by hiredis' reader.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "redlock/core/reply.hpp"

struct redisReader;

namespace redlock::inline v1::detail {

struct ReplyInProgress;

/// Parses RESP2 from a server that may be malicious: what is larger than any answer to our commands is
/// refused before memory is spent on it.
class Reader {
 public:
  Reader();
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
  bool too_long_ = false;
};

}  // namespace redlock::inline v1::detail
