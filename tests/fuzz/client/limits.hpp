// How little a client must do, and how little memory it must use, whatever its servers say.
#pragma once

#include <cstddef>

#include "fuzz/client/work.hpp"

namespace redlock::testing {

// About two and a half times what was measured in about 66,000 inputs of up to 939 bytes. No limit of an event depends on
// what was before it, so a client that does a little more for each byte that it has ever got is found out.

/// What is sent may be six handshakes, and the commands of four calls and four inspections.
constexpr Work most_for_an_event{
    .blocks = 90'000, .allocations = 600, .allocated = 400'000, .sent = 80'000, .events = 150, .timers = 6};
/// After NOSCRIPT, a whole script; after an answer that ends an attempt, its releases and the next attempts.
constexpr Work most_for_a_reply{
    .blocks = 2'000, .allocations = 5, .allocated = 2'000, .sent = 6'000, .events = 3, .timers = 0};
/// From the begin to the end of a client, besides what it does for the bytes of the input. It ends by waiting for seconds.
constexpr Work most_at_all{.blocks = 300'000,
                           .allocations = 2'000,
                           .allocated = 1'000'000,
                           .sent = 150'000,
                           .events = 100,
                           .timers = 200};
/// A byte may be the time that passes until the next handshakes.
constexpr Work most_for_a_byte{
    .blocks = 8'000, .allocations = 60, .allocated = 75'000, .sent = 20'000, .events = 2, .timers = 5};

/// About twice what was measured, with the address sanitizer: 148 kB in thousands of inputs, of which 60 kB were the longest
/// reply and its copies, and 80 kB the handshakes. Inputs of 1000 bytes and more took up to 40 bytes for each of theirs.
constexpr std::size_t most_memory = 300'000;
constexpr std::size_t most_memory_for_a_byte = 80;

}  // namespace redlock::testing
