#include "benchmark/floor/cycle_commands.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "benchmark/measure/resource_name.hpp"
#include "redlock/core/base/hex.hpp"
#include "redlock/core/lock/claim.hpp"

namespace redlock::benchmark {
namespace {

// Placeholders for the parts that differ from cycle to cycle. Their letters are searched for in the formatted
// command.
const std::string any_name(ResourceName::size, 'n');
const std::string any_digits(owner_digits, 'o');

core::Claim claim_of(const Wording& wording) {
  core::Claim claim{.key = any_name, .owner = any_digits + wording.owner_end, .ttl = ttl, .heeds_flag = true};
  if (wording.is_shared) {
    claim.share();
    claim.fence = core::Fence{
        .counter_key = core::counter_key(claim.key), .proposal = 1, .memory = std::chrono::hours{24}};
  }
  if (!wording.lock_ends.empty()) claim.marker_keys = &core::keys_without_prefix;
  return claim;
}

/// A lock command names the resource again if it names the flag, and those of a shared lock name it in further keys.
std::vector<std::size_t> names_in(const std::string& command) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; (at = command.find(any_name, at)) != std::string::npos; at += any_name.size())
    places.push_back(at);
  return places;
}

}  // namespace

void write_new_digits(char* to) {
  std::array<unsigned char, owner_digits / 2> drawn;
  if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size()))
    throw std::system_error{errno, std::generic_category(), "getrandom"};
  for (const unsigned char byte : drawn) {
    *to++ = core::lower_hex[byte >> 4];
    *to++ = core::lower_hex[byte & 15];
  }
}

CycleCommands::CycleCommands(Wording wording)
    : lock_{claim_of(wording).set_command()},
      lock_ends_{std::move(wording.lock_ends)},
      release_{claim_of(wording).release_command()},
      lock_names_{names_in(lock_)},
      release_names_{names_in(release_)},
      lock_owner_{lock_.find(any_digits)},
      release_owner_{release_.find(any_digits)} {}

void CycleCommands::begin(std::string_view resource) {
  write_new_digits(lock_.data() + lock_owner_);
  for (const std::size_t at : lock_names_) lock_.replace(at, resource.size(), resource);
  for (const std::size_t at : release_names_) release_.replace(at, resource.size(), resource);
  release_.replace(release_owner_, any_digits.size(), lock_, lock_owner_, any_digits.size());
}

}  // namespace redlock::benchmark
