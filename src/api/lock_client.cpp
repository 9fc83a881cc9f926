#include "redlock/lock_client.hpp"

#include <utility>

#include "api/client.hpp"
#include "api/limits.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

using Attempts = detail::Client::Attempts;

Clock::time_point from_now(Duration wait) noexcept { return core::later(Clock::now(), wait); }

/// With no time left, makes one full attempt and waits for no node.
detail::Client::Outcome acquire_within(Duration wait, detail::Client& client, std::string_view resource,
                                       const LockOptions& options, const std::stop_token& stop) {
  if (wait > Duration{}) return client.acquire(resource, options, Attempts::until_time, from_now(wait), stop);
  return client.acquire(resource, detail::without_node_wait(options), Attempts::one, core::never, stop);
}

/// Returns an empty optional for `held` and `timed_out`, and throws for all other failures.
std::optional<Lease> lease_or_throw(detail::Client::Outcome outcome) {
  const Errc code = outcome.failure.code;
  if (outcome.lease || code == Errc::held || code == Errc::timed_out) return std::move(outcome.lease);
  throw Error{code, outcome.failure.details, std::move(outcome.failure.nodes)};
}

/// Runs a call that returns an outcome or throws Error, and turns both into a code.
template <class Call>
std::optional<Lease> lease_or_code(std::error_code& ec, Call&& call) {
  ec.clear();
  try {
    detail::Client::Outcome outcome = std::forward<Call>(call)();
    if (!outcome.lease) ec = outcome.failure.code;
    return std::move(outcome.lease);
  } catch (const std::system_error& error) {  // Error, or the system has no thread or random numbers
    ec = error.code();
    return std::nullopt;
  }
}

}  // namespace

LockClient::LockClient(std::shared_ptr<detail::Client> client) noexcept : client_{std::move(client)} {}
LockClient::LockClient(LockClient&&) noexcept = default;
LockClient& LockClient::operator=(LockClient&&) noexcept = default;
LockClient::~LockClient() = default;

std::optional<Lease> LockClient::try_lock(std::string_view resource, const LockOptions& options) {
  return lease_or_throw(client_->acquire(resource, options, Attempts::one, core::never, {}));
}

std::optional<Lease> LockClient::try_lock(std::string_view resource, const LockOptions& options,
                                          std::error_code& ec) {
  return lease_or_code(ec,
                       [&] { return client_->acquire(resource, options, Attempts::one, core::never, {}); });
}

std::optional<Lease> LockClient::try_lock_for(std::string_view resource, Duration wait,
                                              const LockOptions& options, std::stop_token stop) {
  return lease_or_throw(acquire_within(wait, *client_, resource, options, stop));
}

std::optional<Lease> LockClient::try_lock_for(std::string_view resource, Duration wait,
                                              const LockOptions& options, std::stop_token stop,
                                              std::error_code& ec) {
  return lease_or_code(ec, [&] { return acquire_within(wait, *client_, resource, options, stop); });
}

Lease LockClient::lock(std::string_view resource, const LockOptions& options, std::stop_token stop) {
  return *lease_or_throw(client_->acquire(resource, options, Attempts::until_time, core::never, stop));
}

std::optional<Lease> LockClient::lock(std::string_view resource, const LockOptions& options,
                                      std::stop_token stop, std::error_code& ec) {
  return lease_or_code(
      ec, [&] { return client_->acquire(resource, options, Attempts::until_time, core::never, stop); });
}

std::optional<Lease> LockClient::adopt(std::string_view resource, std::string_view owner_value,
                                       FencingToken token, const LockOptions& options) {
  auto outcome = client_->adopt(resource, owner_value, token, options);
  if (outcome.failure.code == Errc::lost) return std::nullopt;
  return lease_or_throw(std::move(outcome));
}

std::optional<Lease> LockClient::adopt(std::string_view resource, std::string_view owner_value,
                                       FencingToken token, const LockOptions& options, std::error_code& ec) {
  return lease_or_code(ec, [&] { return client_->adopt(resource, owner_value, token, options); });
}

void LockClient::shut_down() { client_->shut_down(); }

std::vector<NodeReport> LockClient::inspect(std::string_view resource) { return client_->inspect(resource); }

std::vector<NodeReport> LockClient::inspect(std::string_view resource, std::error_code& ec) {
  ec.clear();
  try {
    return inspect(resource);
  } catch (const std::system_error& error) {
    ec = error.code();
    return {};
  }
}

}  // namespace v1
}  // namespace redlock
