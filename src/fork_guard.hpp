// Whether this process has forked since something was made.
#pragma once

namespace redlock::inline v1::detail {

/// A number that is another one in a child of fork(). What belongs to one generation, such as a connection,
/// must not be used in another: two processes would write into one stream. Async-signal safe after the first
/// call.
[[nodiscard]] unsigned fork_generation();

}  // namespace redlock::inline v1::detail
