#include "io/tls/certificate_ends.hpp"

#include <algorithm>

namespace redlock::inline v1::detail {
namespace {

constexpr std::chrono::days soon{30};
/// Longer than any client runs, and short enough for nanoseconds.
constexpr std::chrono::years longest{100};

}  // namespace

void CertificateEnds::note(core::NodeIndex node, const std::string& name, std::chrono::sys_seconds end,
                           core::Time now, std::chrono::sys_seconds wall_now, Observer& observer) {
  Seen& seen = seen_[node];
  if (seen.end == end) return;
  const std::chrono::seconds left = std::min<std::chrono::seconds>(end - soon - wall_now, longest);
  const bool ends_soon = left <= std::chrono::seconds{0};
  seen = {name, end, ends_soon ? core::never : now + left};
  next_ = std::min(next_, seen.soon_at);
  observer.certificate_seen({name, end, ends_soon});
}

void CertificateEnds::on_time(core::Time now, Observer& observer) {
  if (now < next_) return;
  next_ = core::never;
  for (Seen& seen : seen_) {
    if (now >= seen.soon_at) {
      observer.certificate_seen({seen.name, *seen.end, true});
      seen.soon_at = core::never;
    }
    next_ = std::min(next_, seen.soon_at);
  }
}

}  // namespace redlock::inline v1::detail
