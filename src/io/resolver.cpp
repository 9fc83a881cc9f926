#include "io/resolver.hpp"

#include <netdb.h>

#include <cstring>
#include <thread>

#include "os/quiet_thread.hpp"

namespace redlock::inline v1::detail {
namespace {

struct Lookup {
  int status = 0;
  std::vector<Address> addresses;
};

Lookup look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  Lookup lookup;
  lookup.status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{list, &freeaddrinfo};
  for (const addrinfo* info = list; info; info = info->ai_next) {
    Address& address = lookup.addresses.emplace_back();
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
  }
  return lookup;
}

}  // namespace

std::shared_ptr<Resolution> Resolution::start(std::string host, std::uint16_t port,
                                              std::function<void()> first) {
  auto resolution = std::make_shared<Resolution>();
  if (Lookup numeric; !first && (numeric = look_up(host, port, AI_NUMERICHOST)).status == 0) {
    resolution->answer_ = {true, std::move(numeric.addresses), {}};
    return resolution;
  }
  std::thread thread = quiet_thread([resolution, host = std::move(host), port, first = std::move(first)] {
    if (first) first();
    Lookup lookup = look_up(host, port, 0);
    const std::string error = lookup.status == 0 ? "" : gai_strerror(lookup.status);
    const std::lock_guard lock{resolution->mutex_};
    resolution->answer_ = {true, std::move(lookup.addresses), error};
    resolution->answered_.set();
  });
  thread.detach();  // a lookup cannot be interrupted
  return resolution;
}

Resolution::Answer Resolution::answer() const {
  const std::lock_guard lock{mutex_};
  return answer_;
}

}  // namespace redlock::inline v1::detail
