// Mistakes that are made on purpose, to see that they are found.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/acquisition.hpp"
#include "redlock/core/claim.hpp"
#include "redlock/core/operation.hpp"
#include "redlock/core/scripts.hpp"
#include "redlock/core/time.hpp"
#include "simulation/schedule.hpp"

namespace redlock::simulation {

/// A way to be wrong. The core stays as it is shipped: a mutant changes what goes in and comes out of it, or what scripts the
/// servers run. What it does not override is right.
class Mutant {
 public:
  struct Patch {
    const core::Script* original;
    std::string_view source;
  };

  virtual ~Mutant() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::vector<Patch> patches() const { return {}; }
  /// Before an attempt that follows one of this owner value.
  virtual void before_attempt(core::Claim& claim, const std::string& previous_owner) const {
    static_cast<void>(claim), static_cast<void>(previous_owner);
  }
  virtual void before_extension(core::Claim& claim) const { static_cast<void>(claim); }
  /// Puts something between the engine and the operation.
  [[nodiscard]] virtual std::unique_ptr<core::Operation> disguise(
      std::unique_ptr<core::Operation> operation) const {
    return operation;
  }
  /// What the holder takes for its deadline.
  [[nodiscard]] virtual core::Time deadline(const core::Acquisition& granted, core::Time now) const {
    static_cast<void>(now);
    return granted.valid_until();
  }
  /// Until when an extension is tried.
  [[nodiscard]] virtual core::Time extension_limit(core::Time deadline) const { return deadline; }
};

/// All of them.
[[nodiscard]] std::span<const std::unique_ptr<Mutant>> mutants();

}  // namespace redlock::simulation
