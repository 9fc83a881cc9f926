// A client of one Redis server that is independent of the library.
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

/// A plain blocking client, for tests that inspect servers or change them without the library.
///
/// Connects to 127.0.0.1 on the first call and on the first call after one that threw. A call takes at most
/// `patience` and never sends its command twice. Throws `std::runtime_error` if the server does not answer
/// or, except from `command()`, answers with an error. Not thread safe.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, std::string password = {},
                     std::chrono::seconds patience = std::chrono::seconds{2});
  ~RawClient();
  RawClient(RawClient&&) noexcept;
  RawClient& operator=(RawClient&&) noexcept;

  [[nodiscard]] std::optional<std::string> get(std::string_view key);
  [[nodiscard]] long long pttl(std::string_view key);  ///< -2: no such key; -1: it never expires.
  bool del(std::string_view key);                      ///< Returns true if the key existed.
  [[nodiscard]] std::vector<std::string> keys(std::string_view pattern = "*");  ///< Sorted.

  [[nodiscard]] std::vector<std::string> locks();  ///< All keys except the library's own. Sorted.

  /// Returns the reply as text: strings, statuses and numbers as they are, `(nil)`, arrays as `[a, b, [c]]`,
  /// errors as `-ERR message`.
  std::string command(const std::vector<std::string>& arguments);

  /// How often the server has executed a command (a subcommand: `client|kill`) for any client, including from
  /// scripts.
  [[nodiscard]] std::uint64_t calls(std::string_view command);
  /// The same for every command that was executed at least once.
  [[nodiscard]] std::map<std::string, std::uint64_t> all_calls();
  /// Number of fenced attempts, as each reads the counter with GET. Confirmations and `get` of this class
  /// count as well.
  [[nodiscard]] std::uint64_t attempts() { return calls("get"); }
  /// A field of INFO: `info("connected_clients")`. Empty if there is no such field.
  [[nodiscard]] std::optional<std::string> info(std::string_view field);

 private:
  class Connection;
  struct Reply;
  Reply ask(const std::vector<std::string>& arguments);

  std::uint16_t port_;
  std::string password_;
  std::chrono::seconds patience_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace redlock::testing
