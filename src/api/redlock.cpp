#include "redlock/redlock.hpp"

#include <utility>

#include "api/client.hpp"
#include "api/limits.hpp"

namespace redlock {
inline namespace v1 {

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature that users know
Redlock::Redlock(std::vector<Endpoint> nodes, Options options)
    : LockClient{std::make_shared<detail::Client>(nodes, std::move(options))} {}

Duration Redlock::raise_max_ttl(Duration max_ttl) { return client().raise_max_ttl(max_ttl); }

SingleNodeLock::SingleNodeLock(Endpoint node, Options options)
    : LockClient{std::make_shared<detail::Client>(std::vector{std::move(node)},
                                                  detail::unguarded(std::move(options)))} {}

}  // namespace v1
}  // namespace redlock
