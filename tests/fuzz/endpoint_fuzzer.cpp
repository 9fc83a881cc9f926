// Any text is parsed as an endpoint or refused with a reason, and neither shows a password.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/finding.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"

namespace {

using redlock::Endpoint;
using redlock::testing::must;

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

void check(const redlock::Error& refusal) {
  const std::string_view message = refusal.what();
  must(refusal.code() == redlock::Errc::invalid_argument, "refused text is a misconfiguration");
  must(message.find(secret) == message.npos, "a refusal does not repeat the password");
  must(is_plain(message) && message.size() < 250, "a refusal is short and in printable ASCII");
  must(refusal.nodes().empty(), "no node was asked");
}

std::optional<Endpoint> parse(std::string_view text) {
  try {
    return Endpoint{text};
  } catch (const redlock::Error& refusal) {
    check(refusal);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto endpoint = parse({reinterpret_cast<const char*>(data), size})) check(*endpoint);
  return 0;
}
