// A look at one Redis server from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

/// A plain blocking client, for tests that look at servers or change them behind the library's back.
///
/// Dials 127.0.0.1 at the first call, and again at the first call after one that threw. A call takes at most
/// two seconds and never sends its command twice. Throws `std::runtime_error` when the server does not
/// answer, and, except from `command()`, when it answers with an error. One thread at a time.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, std::string password = {});
  ~RawClient();
  RawClient(RawClient&&) noexcept;
  RawClient& operator=(RawClient&&) noexcept;

  [[nodiscard]] std::optional<std::string> get(std::string_view key);
  [[nodiscard]] long long pttl(std::string_view key);  ///< -2: no such key; -1: it never expires.
  bool del(std::string_view key);                      ///< Whether it was there.
  [[nodiscard]] std::vector<std::string> keys(std::string_view pattern = "*");  ///< Sorted.

  [[nodiscard]] std::vector<std::string> locks();  ///< The keys that are none of the library's own. Sorted.

  /// The reply as text: strings, states and numbers as they are, `(nil)`, arrays as `[a, b, [c]]`, errors as
  /// `-ERR what is wrong`.
  std::string command(const std::vector<std::string>& arguments);

  /// How often the server has executed a command (a subcommand: `client|kill`), by whomever, scripts
  /// included.
  [[nodiscard]] std::uint64_t calls(std::string_view command);
  /// The same for every command that was executed.
  [[nodiscard]] std::map<std::string, std::uint64_t> all_calls();
  /// How often a lock with a token was asked for: each looks at the counter first. So do confirmations, and `get` here.
  [[nodiscard]] std::uint64_t attempts() { return calls("get"); }
  /// A field of INFO: `info("connected_clients")`. Empty: there is none of that name.
  [[nodiscard]] std::optional<std::string> info(std::string_view field);

 private:
  class Connection;
  struct Reply;
  Reply ask(const std::vector<std::string>& arguments);

  std::uint16_t port_;
  std::string password_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace redlock::testing
