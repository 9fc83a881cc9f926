// When the certificates of the nodes end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

/// Reports each certificate when it is seen, and again when it ends soon. A connection may last longer than that.
class CertificateEnds {
 public:
  explicit CertificateEnds(std::size_t nodes) : seen_(nodes) {}

  /// A connection to the node was made. `wall_now`: as certificates count time.
  void note(core::NodeIndex node, const std::string& name, std::chrono::sys_seconds end, core::Time now,
            std::chrono::sys_seconds wall_now, Observer&);
  /// Reports what ends soon by now.
  void on_time(core::Time now, Observer&);

 private:
  struct Seen {
    std::string name;
    std::optional<std::chrono::sys_seconds> end{};
    core::Time soon_at = core::never;
  };
  std::vector<Seen> seen_;  // by node
  core::Time next_ = core::never;
};

}  // namespace redlock::inline v1::detail
