#include "benchmark/floor/cycle_commands.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include "benchmark/measure/resource_name.hpp"
#include "redlock/core/base/hex.hpp"
#include "redlock/options.hpp"

namespace redlock::benchmark {
namespace {

// Placeholders for the parts that differ from cycle to cycle. Their letters are searched for in the formatted
// command.
const std::string any_name(ResourceName::size, 'n');
const std::string any_digits(owner_digits, 'o');
const std::string any_proposal(16, '1');

core::Claim any_claim_of(const Wording& wording) {
  core::Claim claim = claim_of(wording, any_name, std::stoull(any_proposal), 1);
  claim.owner = any_digits + wording.owner_end;
  return claim;
}

/// A lock command names the resource again if it names the flag, the counter or the readers.
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

core::Claim claim_of(const Wording& wording, std::string_view resource, std::uint64_t proposal,
                     std::size_t seat) {
  core::Claim claim{.key = std::string{resource}, .owner = {}, .ttl = ttl, .heeds_flag = true};
  if (wording.is_seat) {
    claim.line_key = core::line_of_seats(resource);
    claim.key = core::seat_key(claim.line_key, seat);
  }
  if (wording.is_fenced || wording.is_shared)
    claim.fence =
        core::Fence{.counter_key = core::counter_key(claim.key),
                    .proposal = proposal,
                    .memory = std::chrono::ceil<std::chrono::milliseconds>(Options{}.fence_memory.get())};
  if (wording.is_shared) claim.share();
  if (!wording.lock_ends.empty()) claim.marker_keys = &core::keys_without_prefix;
  return claim;
}

std::uint64_t new_proposal() noexcept {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
}

CycleCommands::CycleCommands(Wording wording)
    : lock_{any_claim_of(wording).set_command()},
      lock_ends_{std::move(wording.lock_ends)},
      release_{any_claim_of(wording).release_command()},
      lock_names_{names_in(lock_)},
      release_names_{names_in(release_)},
      lock_owner_{lock_.find(any_digits)},
      release_owner_{release_.find(any_digits)},
      proposal_{lock_.rfind(any_proposal)} {}

void CycleCommands::begin(std::string_view resource) {
  write_new_digits(lock_.data() + lock_owner_);
  for (const std::size_t at : lock_names_) lock_.replace(at, resource.size(), resource);
  for (const std::size_t at : release_names_) release_.replace(at, resource.size(), resource);
  release_.replace(release_owner_, any_digits.size(), lock_, lock_owner_, any_digits.size());
  if (proposal_ == std::string::npos) return;
  char* const proposal = lock_.data() + proposal_;
  std::to_chars(proposal, proposal + any_proposal.size(), new_proposal());
}

}  // namespace redlock::benchmark
