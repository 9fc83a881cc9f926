// Any text is parsed as an endpoint, and as a list of them, or refused with a reason, and nothing shows a password.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fuzz/finding.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"

namespace {

using redlock::Endpoint;
using redlock::testing::must;

constexpr std::size_t longest_refusal = 250;
constexpr std::string_view of_entry = "entry 1000 of the list: ";  // what that of a list has more, at most
constexpr std::string_view secret = "hunter2";  // the password of the corpus and of the dictionary

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return byte >= ' ' && byte <= '~'; });
}

void check(const Endpoint& endpoint) {
  const std::string shown = endpoint.to_string();
  must(is_plain(shown), "an endpoint is shown in printable ASCII");
  const Endpoint again{shown};
  must(again.user().empty() && again.password().empty(), "credentials are not shown");
  must(again.transport() == endpoint.transport() && again.host() == endpoint.host() &&
           again.port() == endpoint.port() && again.path() == endpoint.path() && again.db() == endpoint.db(),
       "the shown text is the same address");
  must(endpoint.transport() == Endpoint::Transport::tls || endpoint.tls_options({}) == redlock::TlsOptions{},
       "only nodes with TLS have TLS options");
  // The endpoint without credentials has the same text, so the text has nothing of the password.
  must(again.to_string() == shown, "the shown text does not depend on the credentials");
}

/// `longest`: what the message is shorter than.
void check(const redlock::Error& refusal, std::size_t longest) {
  const std::string_view message = refusal.what();
  must(refusal.code() == redlock::Errc::invalid_argument, "refused text is a misconfiguration");
  must(message.find(secret) == message.npos, "a refusal does not repeat the password");
  must(is_plain(message) && message.size() < longest, "a refusal is short and in printable ASCII");
  must(refusal.nodes().empty(), "no node was asked");
}

/// The entries that a list can have at most.
std::size_t parts_of(std::string_view text) {
  std::size_t parts = 0;
  bool is_empty = true;
  for (const char byte : text) {
    const bool is_separator = byte == ',' || byte == '\n';
    if (is_empty && !is_separator) ++parts;
    is_empty = is_separator;
  }
  return parts;
}

/// Whether the message of a refusal begins with the number of an entry that the list can have.
bool names_entry(std::string_view message, std::size_t parts) {
  constexpr std::string_view before = "invalid argument: entry ";
  if (!message.starts_with(before)) return false;
  message.remove_prefix(before.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(message.data(), message.data() + message.size(), number);
  message.remove_prefix(static_cast<std::size_t>(end - message.data()));
  return error == std::errc{} && number >= 1 && number <= parts &&
         message.starts_with(" of the list: endpoint: ");
}

std::optional<Endpoint> parse(std::string_view text) {
  try {
    return Endpoint{text};
  } catch (const redlock::Error& refusal) {
    check(refusal, longest_refusal);
    return std::nullopt;
  }
}

void check_list(std::string_view text) {
  const std::size_t parts = parts_of(text);
  try {
    const std::vector<Endpoint> endpoints = Endpoint::list(text);
    must(endpoints.size() <= parts, "a list has no more entries than parts that are not empty");
    for (const Endpoint& endpoint : endpoints) check(endpoint);
  } catch (const redlock::Error& refusal) {
    check(refusal, longest_refusal + of_entry.size());
    must(names_entry(refusal.what(), parts), "the refusal of a list names the entry");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto endpoint = parse(text)) check(*endpoint);
  check_list(text);
  return 0;
}
