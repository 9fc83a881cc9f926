#include "api/label.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "api/limits.hpp"
#include "os/random.hpp"

namespace redlock::inline v1::detail {
namespace {

std::string process_on_host() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return std::string{host} + ':' + std::to_string(::getpid());
}

}  // namespace

std::string process_label() {
  return (process_on_host() + ' ' + ::program_invocation_short_name).substr(0, longest_label);
}

std::string connection_name() {
  std::string name = "redlock:" + process_on_host();
  std::erase_if(name, [](char c) { return c <= ' ' || c > '~'; });
  return name;
}

std::string new_owner_value(std::string_view label, std::chrono::microseconds since) {
  std::string value = random_owner_value();
  const std::string seconds = std::to_string(std::chrono::floor<std::chrono::seconds>(since).count());
  value.reserve(value.size() + label.size() + seconds.size() + 3);
  return value.append(" ").append(label).append(" @").append(seconds);
}

}  // namespace redlock::inline v1::detail
