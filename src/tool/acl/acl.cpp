#include "tool/acl/acl.hpp"

#include <iostream>

#include "tool/exit_code.hpp"

namespace redlock::tool {

int print_acl(const AclArguments& arguments) {
  std::cout << "ACL SETUSER " << arguments.user << " reset on >PASSWORD";
  for (const std::string& rule : acl_rules(arguments.features, arguments.key_prefix))
    std::cout << ' ' << rule;
  std::cout << '\n';
  return success;
}

}  // namespace redlock::tool
