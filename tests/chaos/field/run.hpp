// One run of chaos: servers, clients, faults, and what came of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chaos/judge/verdict.hpp"
#include "chaos/mutant/mutants.hpp"
#include "chaos/plan/plan.hpp"
#include "chaos/worker/task.hpp"

namespace redlock::chaos {

/// A run with a store without tokens, whose writers keep their deadlines, as far as a process can: none of them is stopped.
enum class Control : std::uint8_t {
  none,
  guarded,    // it loses no write, because clients guard restarts
  unguarded,  // it loses writes
};

struct RunOptions {
  std::uint64_t seed = 1;
  Profile profile = Profile::within;
  int nodes = 3;
  std::chrono::seconds length{60};
  int haste = 1;
  const Mutant* mutant = nullptr;  // null: none
  std::vector<Kind> only;          // if not empty, no other faults happen
  bool is_about_restarts = false;  // the plan of restarts; precondition: three nodes
  bool loses_packets = false;      // precondition: this network is our own
  bool is_full_load = false;
  bool is_memory_judged = true;  // of the clients that make the full load
  Control control = Control::none;
  std::string program;  // of the clients
  std::string tool;
  std::string clock_library;
  std::string folder;  // for the logs
};

/// Sixteen clients in all roles; at full load also four that lock without a pause. In a control more of them write to the store.
[[nodiscard]] std::vector<Role> roles(const RunOptions&);

struct Outcome {
  Plan plan;
  Verdict verdict;
  std::vector<std::vector<Entry>> logs;            // by client
  std::vector<std::vector<Footprint>> footprints;  // by client; of those that make the load
  std::vector<Entry> faults;
  Instant begun = 0;
  Instant ended = 0;
  std::int64_t written_fenced = 0;    // accepted by the fenced store
  std::int64_t written_unfenced = 0;  // to its twin
  std::vector<std::string> troubles;  // what kept a fault from being made
};

/// Makes the faults of the plan, one after the other, until what is searched for is found; without a search heals everything, waits until each
/// client has got its lock again, and ends all. Throws std::runtime_error if a process fails for a reason that no fault
/// explains.
[[nodiscard]] Outcome run(const RunOptions&);

}  // namespace redlock::chaos
