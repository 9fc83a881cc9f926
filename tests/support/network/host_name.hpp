// Host names of tests, with any addresses.
#pragma once

#include <string>
#include <vector>

namespace redlock::testing {

/// As long as it exists, the process resolves this name to these IPv4 addresses, in this order. One at a time. Lookups may run
/// in any thread; the constructor and the destructor may not run at the same time as one.
class HostName {
 public:
  HostName(std::string name, std::vector<std::string> addresses);
  ~HostName();
  HostName(const HostName&) = delete;
  HostName& operator=(const HostName&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<std::string>& addresses() const noexcept { return addresses_; }

 private:
  const std::string name_;
  const std::vector<std::string> addresses_;
};

}  // namespace redlock::testing
