#include "redlock/fencing/fenced_value.hpp"

#include "redlock/core/wire/keys.hpp"

namespace redlock {
inline namespace v1 {

std::string fenced_value_token_key(std::string_view key) { return core::companion_key("v", key); }

}  // namespace v1
}  // namespace redlock
