#include "redlock/version.hpp"

#define REDLOCK_TEXT(number) #number
#define REDLOCK_TEXT_OF(number) REDLOCK_TEXT(number)

namespace redlock {
inline namespace v1 {

std::string_view version() noexcept {
  return REDLOCK_TEXT_OF(REDLOCK_VERSION_MAJOR) "." REDLOCK_TEXT_OF(
      REDLOCK_VERSION_MINOR) "." REDLOCK_TEXT_OF(REDLOCK_VERSION_PATCH);
}

}  // namespace v1
}  // namespace redlock
