// Mistakes that are made on purpose, to see that they are found.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// A way to be wrong. The core stays as it is shipped: a mutant changes what goes in and comes out of it, or what scripts the
/// servers run. What it does not override is right.
class Mutant {
 public:
  struct Patch {
    const core::Script* original;
    std::string_view source;
  };

  /// Sends a command on a connection of its own; nobody hears the answer.
  using Aside = std::function<void(core::NodeIndex, std::string_view command)>;

  virtual ~Mutant() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::vector<Patch> patches() const { return {}; }
  /// In worlds whose clients guard restarts.
  virtual void before_start(core::RestartGuard::Settings& guard) const { static_cast<void>(guard); }
  /// `previous_owner`: of the attempt before; empty: there is none.
  virtual void before_attempt(core::Claim& claim, const std::string& previous_owner) const {
    static_cast<void>(claim), static_cast<void>(previous_owner);
  }
  virtual void before_hold(core::Claim& claim) const { static_cast<void>(claim); }
  virtual void before_extension(core::LeaseState& held) const { static_cast<void>(held); }
  /// Puts something between the engine and the operation.
  [[nodiscard]] virtual std::unique_ptr<core::Operation> disguise(std::unique_ptr<core::Operation> operation,
                                                                  std::size_t nodes,
                                                                  const Aside& aside) const {
    static_cast<void>(nodes), static_cast<void>(aside);
    return operation;
  }
  /// What the holder takes for its deadline, and whether it looks at it when the lock is handed over.
  [[nodiscard]] virtual core::Time deadline(const core::Acquisition& granted, core::Time now,
                                            const Schedule& schedule) const {
    static_cast<void>(now), static_cast<void>(schedule);
    return granted.valid_until();
  }
  [[nodiscard]] virtual bool looks_at_deadline() const { return true; }
  /// Whether it reads a key again behind a write of its own, so as to hear of the next change.
  [[nodiscard]] virtual bool arms_again() const { return true; }
  /// Whether a release ends renewals, and whatever extension is under way.
  [[nodiscard]] virtual bool release_ends_lease() const { return true; }
  /// Until when an extension is tried.
  [[nodiscard]] virtual core::Time extension_limit(core::Time deadline, core::Time now) const {
    static_cast<void>(now);
    return deadline;
  }
};

/// All of them.
[[nodiscard]] std::span<const std::unique_ptr<Mutant>> mutants();

}  // namespace redlock::simulation
