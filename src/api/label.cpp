#include "api/label.hpp"

#include "os/process_label.hpp"
#include "os/random.hpp"

namespace redlock::inline v1::detail {

std::string connection_name() {
  std::string name = "redlock:" + process_on_host();
  std::erase_if(name, [](char c) { return c <= ' ' || c > '~'; });
  return name;
}

std::string draw_member(std::string_view label) {
  return random_owner_value().substr(0, 16).append(".").append(label);
}

core::OwnerValues draw_owner_values(std::string_view label) { return {random_owner_value(), label}; }

}  // namespace redlock::inline v1::detail
