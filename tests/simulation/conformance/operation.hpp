// Commands and scripts to compare servers by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/conformance/dice.hpp"

namespace redlock::simulation {

struct Operation {
  std::vector<std::string> words;
  std::vector<std::string> expiring = {};  // keys whose expiries it may change
};

/// Draws operations: valid ones mostly, or they would not meet; broken ones often.
class Operations {
 public:
  /// `same_version`: also what servers of other versions than the simulated one answer otherwise.
  Operations(std::uint64_t seed, std::int64_t now_us, bool same_version)
      : dice_{seed}, now_us_{now_us}, same_version_{same_version} {}

  Operation next();
  /// Some that leave keys which live for a few milliseconds, and have nothing to do with each other. Nothing may touch
  /// the keys until their time is over.
  std::vector<Operation> fleeting();

  Dice& dice() noexcept { return dice_; }

 private:
  std::vector<std::string> any();
  std::vector<std::string> plain();
  std::vector<std::string> key_command();
  std::vector<std::string> time_command();
  std::vector<std::string> value_command();
  std::vector<std::string> server_command();
  std::vector<std::string> script_command();
  std::vector<std::string> set_command();
  std::vector<std::string> shipped();
  std::vector<std::string> small_script();
  std::string any_source();
  std::string calling_source();
  std::string literal(int depth);
  void spoil(std::vector<std::string>& words);

  Dice dice_;
  std::int64_t now_us_;
  bool same_version_;
};

}  // namespace redlock::simulation
