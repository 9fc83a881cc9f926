// What is wrong with the nodes, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tool/nodes/survey.hpp"

namespace redlock::tool {

enum class Severity : std::uint8_t {
  note,      ///< Worth knowing. Nothing is wrong.
  degraded,  ///< Locks can be had and are safe, but something should be put right.
  unsafe,    ///< No lock can be had, or two may hold the same one.
};

/// `note`, `degraded` or `unsafe`.
[[nodiscard]] std::string_view to_string(Severity) noexcept;

struct Finding {
  Severity severity = Severity::note;
  std::string id;      ///< For programs, such as `eviction`. Documented in docs/operations.md.
  std::string node;    ///< Empty if it concerns all nodes.
  std::string text;    ///< What is wrong. Printable.
  std::string advice;  ///< What to do. Printable.
};

/// Returns the findings, the worst first.
[[nodiscard]] std::vector<Finding> findings_of(const Survey&);

/// The greatest severity; `note` if there are none.
[[nodiscard]] Severity worst(const std::vector<Finding>&);

/// What could not be seen on this node, for example because its user may not ask for it.
[[nodiscard]] std::vector<std::string> unseen_on(const NodeView&, const Options&);

}  // namespace redlock::tool
