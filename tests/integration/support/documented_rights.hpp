// The rights of a user, as the documentation lists them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/project_file.hpp"

namespace redlock::testing {

/// The ACL rules that docs/errors.md lists for resources that begin with `app:`.
inline std::vector<std::string> documented_rights() {
  const std::string page = read_project_file("docs/errors.md");
  const std::string before = "\nACL SETUSER locks reset on >password ";
  const std::size_t begin = page.find(before);
  REQUIRE(begin != std::string::npos);
  std::istringstream line{
      page.substr(begin + before.size(), page.find('\n', begin + 1) - begin - before.size())};
  std::vector<std::string> rights;
  for (std::string right; line >> right;) rights.push_back(right);
  return rights;
}

}  // namespace redlock::testing
