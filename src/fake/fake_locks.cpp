#include "redlock/testing/fake_locks.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "api/label.hpp"
#include "api/limits.hpp"
#include "fake/fake_shell.hpp"

namespace redlock {
inline namespace v1 {

std::string_view to_string(FakeNodeState state) noexcept {
  switch (state) {
    case FakeNodeState::working:
      return "working";
    case FakeNodeState::refusing:
      return "refusing";
    case FakeNodeState::hanging:
      return "hanging";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, FakeNodeState state) { return out << to_string(state); }

struct FakeLocks::Parts {
  Parts(int nodes, Options given) {
    for (int node = 0; node < nodes; ++node) endpoints.emplace_back("redis://fake-" + std::to_string(node));
    given.restart_guard = RestartGuard::off;
    prefix = given.key_prefix;
    client = std::make_shared<detail::Client>(
        endpoints, std::move(given), [time = clock] { return time->wall(); },
        [this](detail::Shell::Parts parts) {
          shell = new detail::FakeShell{clock, std::move(parts)};
          return detail::OwnProcessPtr<detail::Shell>{shell};
        });
  }

  std::vector<Endpoint> endpoints;
  std::string prefix;
  std::shared_ptr<detail::FakeClock> clock = std::make_shared<detail::FakeClock>();
  detail::FakeShell* shell = nullptr;
  std::shared_ptr<detail::Client> client;
};

FakeLocks::FakeLocks(int nodes, Options options) : FakeLocks{Parts{nodes, std::move(options)}} {}
FakeLocks::FakeLocks(Parts parts)
    : LockClient{std::move(parts.client)}, shell_{parts.shell}, prefix_{std::move(parts.prefix)} {}

// A callback that runs inside a call may destroy the object, so the calls hold the client.

void FakeLocks::advance(Duration span) {
  const auto held = client().shared_from_this();
  constexpr Clock::time_point end = core::never - std::chrono::hours{24 * 365 * 10};  // longer than any ttl
  shell_->advance(std::min(span.get(), end - now()));
}
Clock::time_point FakeLocks::now() const noexcept { return shell_->now(); }

void FakeLocks::take(std::string_view resource, Duration ttl, std::string_view label) {
  const auto held = client().shared_from_this();
  detail::check_label(label);
  const Clock::duration kept = detail::timing({}, {.ttl = ttl}).ttl;
  shell_->overwrite(detail::lock_key(prefix_, resource),
                    detail::draw_owner_values(label).next(shell_->wall()), kept);
}

void FakeLocks::lose(std::string_view resource) {
  const auto held = client().shared_from_this();
  shell_->overwrite(detail::lock_key(prefix_, resource), std::nullopt, {});
}

void FakeLocks::set_node(int node, FakeNodeState state) {
  const auto held = client().shared_from_this();
  if (node < 0 || !shell_->set_node(static_cast<std::size_t>(node), state))
    throw std::out_of_range{"there is no node number " + std::to_string(node)};
}

}  // namespace v1
}  // namespace redlock
