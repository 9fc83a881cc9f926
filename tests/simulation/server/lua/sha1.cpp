#include "simulation/server/lua/sha1.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "redlock/core/base/hex.hpp"

namespace redlock::simulation {
namespace {

constexpr std::size_t block_size = 64;

/// The text with its padding: a one bit, zeros, and its length in bits as the last eight bytes of a block.
std::string padded(std::string_view text) {
  std::string whole{text};
  whole += '\x80';
  while (whole.size() % block_size != block_size - 8) whole += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) whole += static_cast<char>(bits >> shift & 0xFFU);
  return whole;
}

using State = std::array<std::uint32_t, 5>;

std::array<std::uint32_t, 80> schedule(std::string_view block) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < block_size; ++i)
    words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  for (std::size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  return words;
}

void mix(State& state, std::string_view block) {
  auto [a, b, c, d, e] = state;
  const auto words = schedule(block);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t chosen = b ^ c ^ d;
    std::uint32_t constant = i < 40 ? 0x6ED9EBA1 : 0xCA62C1D6;
    if (i < 20) chosen = (b & c) | (~b & d), constant = 0x5A827999;
    if (i >= 40 && i < 60) chosen = (b & c) | (b & d) | (c & d), constant = 0x8F1BBCDC;
    const std::uint32_t next = std::rotl(a, 5) + chosen + e + constant + words[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const std::string whole = padded(text);
  for (std::size_t at = 0; at < whole.size(); at += block_size)
    mix(state, std::string_view{whole}.substr(at, block_size));
  std::string hex;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) hex += core::lower_hex[word >> shift & 0xFU];
  return hex;
}

}  // namespace redlock::simulation
