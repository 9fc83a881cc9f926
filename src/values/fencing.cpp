#include <ostream>

#include "redlock/core/wire/keys.hpp"
#include "redlock/fencing/fenced_value.hpp"
#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

std::ostream& operator<<(std::ostream& out, FencingToken token) { return out << token.value(); }

std::string fenced_value_token_key(std::string_view key) { return core::companion_key("v", key); }

}  // namespace v1
}  // namespace redlock
