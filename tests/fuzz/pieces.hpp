// A stream of bytes that arrives in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <random>
#include <string_view>

namespace redlock::testing {

enum class Cut { whole, bytes, randomly };
inline constexpr std::initializer_list<Cut> small_cuts{Cut::bytes, Cut::randomly};

/// Calls `each` with the pieces into which a network may split the stream: the same pieces for the same
/// stream.
template <class Each>
void in_pieces(std::string_view stream, Cut cut, Each&& each) {
  std::minstd_rand random{static_cast<std::minstd_rand::result_type>(std::hash<std::string_view>{}(stream))};
  while (!stream.empty()) {
    std::size_t size = 1;
    if (cut == Cut::whole) size = stream.size();
    if (cut == Cut::randomly) size += random() % 40;
    each(stream.substr(0, size));
    stream.remove_prefix(std::min(size, stream.size()));
  }
}

}  // namespace redlock::testing
