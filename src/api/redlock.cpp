#include "redlock/redlock.hpp"

#include <utility>

#include "api/client.hpp"
#include "api/limits.hpp"

namespace redlock {
inline namespace v1 {

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature that users know
Redlock::Redlock(std::vector<Endpoint> nodes, Options options)
    : LockClient{std::make_shared<detail::Client>(nodes, std::move(options))} {}

Redlock Redlock::from_environment(Options options) {
  Configuration configuration = Configuration::from_environment(std::move(options));
  if (configuration.nodes.empty())
    throw Error{
        Errc::invalid_argument,
        "no nodes are configured: set REDLOCK_NODES to a comma-separated list, or REDLOCK_NODES_FILE to a "
        "file with one node per line, or write that file to ~/.config/redlock/nodes or /etc/redlock/nodes"};
  return Redlock{std::move(configuration.nodes), std::move(configuration.options)};
}

std::chrono::nanoseconds Redlock::raise_max_ttl(Duration max_ttl) { return client().raise_max_ttl(max_ttl); }

SingleNodeLock::SingleNodeLock(Endpoint node, Options options)
    : LockClient{std::make_shared<detail::Client>(std::vector{std::move(node)},
                                                  detail::unguarded(std::move(options)))} {}

}  // namespace v1
}  // namespace redlock
