#include "redlock/loss.hpp"

namespace redlock {
inline namespace v1 {

std::string_view to_string(Loss loss) noexcept {
  switch (loss) {
    case Loss::none:
      return "not lost";
    case Loss::deadline_passed:
      return "the deadline has passed";
    case Loss::no_quorum:
      return "too few nodes answered until the deadline";
    case Loss::deleted:
      return "a majority of the nodes no longer has it";
    case Loss::taken:
      return "somebody else has it";
    case Loss::max_hold:
      return "it was held for as long as allowed";
    case Loss::shut_down:
      return "the client was shut down";
  }
  return "an unknown loss";
}

}  // namespace v1
}  // namespace redlock
