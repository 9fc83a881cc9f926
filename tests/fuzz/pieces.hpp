// A stream as it arrives.
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

/// Hands over a stream in the pieces into which a network may cut it: the same ones for the same stream.
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
