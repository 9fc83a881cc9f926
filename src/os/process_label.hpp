// What a process tells people about itself.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::inline v1::detail {

inline constexpr std::size_t longest_label = 200;

/// Returns `host:pid`.
[[nodiscard]] inline std::string process_on_host() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return std::string{host} + ':' + std::to_string(::getpid());
}

/// Returns `host:pid program`, at most `longest_label` bytes of it. `program`: a name or a path.
[[nodiscard]] inline std::string process_label(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);
  return (process_on_host() + ' ').append(program).substr(0, longest_label);
}

}  // namespace redlock::inline v1::detail
