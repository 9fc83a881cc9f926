#include "io/sockets/resolver.hpp"

#include <netdb.h>

#include <cstring>
#include <exception>
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
    resolution->answer_ = {true, std::move(numeric.addresses), {}, Clock::now()};
    return resolution;
  }
  std::thread thread = quiet_thread([resolution, host = std::move(host), port, first = std::move(first)] {
    try {
      if (first) first();
      Lookup lookup = look_up(host, port, 0);
      const std::string error = lookup.status == 0 ? "" : gai_strerror(lookup.status);
      resolution->set(std::move(lookup.addresses), error);
    } catch (const std::exception&) {
      resolution->set({}, "out of memory");  // short enough to need none
    }
  });
  thread.detach();  // a lookup cannot be interrupted
  return resolution;
}

void Resolution::set(std::vector<Address> addresses, std::string error) {
  const std::lock_guard lock{mutex_};
  answer_ = {true, std::move(addresses), std::move(error), Clock::now()};
  answered_.set();
}

bool Resolution::is_older_than(Clock::time_point when) const {
  const std::lock_guard lock{mutex_};
  return answer_.there && answer_.at < when;
}

Resolution::Answer Resolution::answer() const {
  const std::lock_guard lock{mutex_};
  return answer_;
}

}  // namespace redlock::inline v1::detail
