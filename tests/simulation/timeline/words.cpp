#include "simulation/timeline/words.hpp"

#include "redlock/core/base/hex.hpp"

namespace redlock::simulation {

std::string client_name(int client) {
  const std::string name = std::string{"client "} + static_cast<char>('A' + client % 26);
  return client < 26 ? name : name + std::to_string(client / 26);
}

std::string node_name(int node) { return "node " + std::to_string(node + 1); }

std::string milliseconds(Instant instant, int decimals) {
  // Unsigned negation: the smallest integer has no positive counterpart.
  const auto bits = static_cast<std::uint64_t>(instant);
  const std::uint64_t magnitude = instant < 0 ? 0 - bits : bits;
  std::string whole = std::to_string(magnitude / 1'000'000);
  if (instant < 0) whole.insert(0, "-");
  if (decimals == 0) return whole;
  const std::string parts = std::to_string(1'000'000 + magnitude % 1'000'000);
  return whole + "." + parts.substr(1, static_cast<std::size_t>(decimals));
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      result += c;
    else
      core::append_hex(result += "\\x", byte);
  }
  return result;
}

}  // namespace redlock::simulation
