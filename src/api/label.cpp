#include "api/label.hpp"

#include <algorithm>
#include <cstdint>

#include "os/process_label.hpp"
#include "os/random.hpp"

namespace redlock::inline v1::detail {
std::string connection_name() {
  std::string name = "redlock:" + process_on_host();
  std::erase_if(name, [](char c) { return c <= ' ' || c > '~'; });
  return name;
}

std::string new_owner_value(std::string_view label, std::chrono::microseconds since) {
  std::string value = random_owner_value();
  const std::string seconds =
      std::to_string(std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(since).count(), 0));
  value.reserve(value.size() + label.size() + seconds.size() + 3);
  return value.append(" ").append(label).append(" @").append(seconds);
}

}  // namespace redlock::inline v1::detail
