// What the nodes say together.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "redlock/node_report.hpp"

namespace redlock::tool {

/// Who holds a resource, by the majority of the nodes asked.
struct Verdict {
  enum class Kind : std::uint8_t { held, free, unknown };

  Kind kind = Kind::unknown;
  std::string owner;              ///< held
  std::chrono::milliseconds ttl;  ///< held: when a majority will have it no longer, unless it is extended
};

/// *Free*: no owner value has a majority, whatever the silent nodes would say.
[[nodiscard]] Verdict verdict_of(std::span<const NodeReport> nodes);

/// A sentence with a full stop.
[[nodiscard]] std::string sentence(const Verdict&, const std::string& resource,
                                   std::span<const NodeReport> nodes);

}  // namespace redlock::tool
