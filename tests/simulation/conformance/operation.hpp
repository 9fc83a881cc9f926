// Random commands and scripts with which the servers are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/conformance/random_source.hpp"

namespace redlock::simulation {

struct Operation {
  std::vector<std::string> words;
  std::vector<std::string> expiring = {};  // keys whose expiries the operation may change
  std::vector<std::string> timed = {};     // keys in which the operation may store its time, as scores
};

/// Draws operations. Most are valid, so that they affect each other; many are broken.
class Operations {
 public:
  /// `same_version`: includes operations that other versions than the simulated one answer differently.
  Operations(std::uint64_t seed, std::int64_t now_us, bool same_version)
      : random_{seed}, now_us_{now_us}, same_version_{same_version} {}

  Operation next();
  /// Independent operations that leave keys with a life of a few milliseconds. Nothing may touch the keys before they expire.
  std::vector<Operation> fleeting();

  RandomSource& random() noexcept { return random_; }

 private:
  Operation drawn();
  std::vector<std::string> any();
  std::vector<std::string> plain();
  std::vector<std::string> key_command();
  std::vector<std::string> time_command();
  std::vector<std::string> value_command();
  std::vector<std::string> server_command();
  std::vector<std::string> script_command();
  std::vector<std::string> set_command();
  std::vector<std::string> set_of_names_command();
  std::vector<std::string> sorted_set_command();
  Operation call_of_line();
  Operation call_of_reader();
  std::vector<std::string> shipped();
  std::vector<std::string> small_script();
  std::string any_source();
  std::string calling_source();
  std::string literal(int depth);
  void spoil(std::vector<std::string>& words);

  RandomSource random_;
  std::int64_t now_us_;
  bool same_version_;
};

}  // namespace redlock::simulation
