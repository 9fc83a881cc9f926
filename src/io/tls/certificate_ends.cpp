#include "io/tls/certificate_ends.hpp"

#include <algorithm>

namespace redlock::inline v1::detail {
namespace {

constexpr std::chrono::days soon{30};
/// Longer than any client runs, and short enough for nanoseconds.
constexpr std::chrono::years longest{100};

}  // namespace

void CertificateEnds::note(core::NodeIndex node, const Observer::Certificate& certificate, core::Time now,
                           std::chrono::sys_seconds wall_now, Observer& observer) {
  Seen& seen = seen_[2 * node + (certificate.is_own ? 1 : 0)];
  if (seen.certificate && seen.certificate->end == certificate.end) return;
  const std::chrono::seconds left =
      std::min<std::chrono::seconds>(certificate.end - soon - wall_now, longest);
  const bool ends_soon = left <= std::chrono::seconds{0};
  seen = {certificate, ends_soon ? core::never : now + left};
  seen.certificate->ends_soon = ends_soon;
  next_ = std::min(next_, seen.soon_at);
  observer.certificate_seen(*seen.certificate);
}

void CertificateEnds::on_time(core::Time now, Observer& observer) {
  if (now < next_) return;
  next_ = core::never;
  for (Seen& seen : seen_) {
    if (now >= seen.soon_at) {
      seen.certificate->ends_soon = true;
      observer.certificate_seen(*seen.certificate);
      seen.soon_at = core::never;
    }
    next_ = std::min(next_, seen.soon_at);
  }
}

}  // namespace redlock::inline v1::detail
