#include "benchmark/floor/cycle_commands.hpp"

#include <hiredis/hiredis.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <initializer_list>
#include <new>
#include <system_error>
#include <vector>

#include "benchmark/measure/resource_name.hpp"
#include "redlock/core/base/hex.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock::benchmark {
namespace {

constexpr std::size_t random_bytes = 20;

// Placeholders for the parts that differ from cycle to cycle. Their letters are searched for in the formatted
// command.
const std::string any_name(ResourceName::size, 'n');
const std::string any_owner(2 * random_bytes, 'o');

std::string format(std::initializer_list<std::string> words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* formatted = nullptr;
  const auto size =
      redisFormatCommandArgv(&formatted, static_cast<int>(texts.size()), texts.data(), sizes.data());
  if (size < 0) throw std::bad_alloc{};
  std::string command{formatted, static_cast<std::size_t>(size)};
  redisFreeCommand(formatted);
  return command;
}

std::string format_lock(const std::string& marker) {
  const std::string px = std::to_string(ttl.count());
  if (marker.empty()) return format({"SET", any_name, any_owner, "NX", "PX", px});
  // Any node's marker will do here. The command of the library names the node as well, which makes it longer.
  return format({"EVALSHA", std::string{core::set_script.sha1}, "3", any_name, std::string{core::marker_key},
                 std::string{core::quarantine_key}, any_owner, px, marker, ""});
}

void write_new_owner(char* to) {
  std::array<unsigned char, random_bytes> drawn;
  if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size()))
    throw std::system_error{errno, std::generic_category(), "getrandom"};
  for (const unsigned char byte : drawn) {
    *to++ = core::lower_hex[byte >> 4];
    *to++ = core::lower_hex[byte & 15];
  }
}

}  // namespace

CycleCommands::CycleCommands(const std::string& release_sha, const std::string& marker)
    : lock_{format_lock(marker)},
      release_{format({"EVALSHA", release_sha, "1", any_name, any_owner})},
      lock_name_{lock_.find(any_name)},
      lock_owner_{lock_.find(any_owner)},
      release_name_{release_.find(any_name)},
      release_owner_{release_.find(any_owner)} {}

std::string_view CycleCommands::lock(std::string_view resource) {
  write_new_owner(lock_.data() + lock_owner_);
  lock_.replace(lock_name_, resource.size(), resource);
  release_.replace(release_name_, resource.size(), resource);
  release_.replace(release_owner_, any_owner.size(), lock_, lock_owner_, any_owner.size());
  return lock_;
}

}  // namespace redlock::benchmark
