#include "redlock/fencing_token.hpp"

#include <ostream>

namespace redlock {
inline namespace v1 {

std::ostream& operator<<(std::ostream& out, FencingToken token) { return out << token.value(); }

}  // namespace v1
}  // namespace redlock
