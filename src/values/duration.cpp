#include "redlock/duration.hpp"

#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {

void Duration::refuse_nan() { throw Error(Errc::invalid_argument, "a duration is NaN; it must be a number"); }

}  // namespace v1
}  // namespace redlock
