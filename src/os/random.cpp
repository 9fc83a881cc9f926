#include "os/random.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "os/system_error.hpp"
#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::detail {
namespace {

void fill(void* bytes, std::size_t size) {
  // Requests of up to 256 bytes are never answered partially once the kernel's generator is seeded.
  ssize_t got = 0;
  do got = getrandom(bytes, size, 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(size)) throw_errno("getrandom");
}

}  // namespace

std::string random_owner_value() {
  std::array<unsigned char, 20> bytes;
  fill(bytes.data(), bytes.size());
  std::string hex(2 * bytes.size(), '0');
  char* to = hex.data();
  for (const unsigned char byte : bytes) to = core::write_hex(to, byte);
  return hex;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  fill(&number, sizeof number);
  return number;
}

}  // namespace redlock::inline v1::detail
