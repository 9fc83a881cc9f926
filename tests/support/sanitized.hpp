// Whether this build has the address or the thread sanitizer, which make the same work take up to fifteen times as long.
#pragma once

namespace redlock::testing {

inline constexpr bool sanitized =
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
    false;
#endif

}  // namespace redlock::testing
