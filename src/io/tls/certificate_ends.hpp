// When the certificates of the nodes and of the client end.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

/// Reports each certificate when it is seen, and again when it ends soon. A connection may last longer than that.
class CertificateEnds {
 public:
  explicit CertificateEnds(std::size_t nodes) : seen_(2 * nodes) {}

  /// A connection to the node was made, with this certificate of the server or of the client. `wall_now`: as certificates
  /// count time.
  void note(core::NodeIndex node, const Observer::Certificate& certificate, core::Time now,
            std::chrono::sys_seconds wall_now, Observer&);
  /// Reports what ends soon by now.
  void on_time(core::Time now, Observer&);

 private:
  struct Seen {
    std::optional<Observer::Certificate> certificate{};
    core::Time soon_at = core::never;
  };
  std::vector<Seen> seen_;  // by node: the server's and the client's
  core::Time next_ = core::never;
};

}  // namespace redlock::inline v1::detail
