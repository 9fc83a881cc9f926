// redlock acl: the command that makes a user on the servers who has the rights that locks need.
#pragma once

#include <string>
#include <vector>

#include "tool/acl/rules.hpp"

namespace redlock::tool {

struct AclArguments {
  std::vector<Feature> features{Feature::plain, Feature::fenced, Feature::renewed, Feature::waiting,
                                Feature::shared};
  std::string key_prefix;
  std::string user = "locks";
};

/// Prints it. Contacts no node. The password is a placeholder. Returns the exit code.
[[nodiscard]] int print_acl(const AclArguments&);

}  // namespace redlock::tool
