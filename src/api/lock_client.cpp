#include "redlock/lock_client.hpp"

#include <memory>
#include <string>
#include <utility>

#include "api/client.hpp"
#include "api/limits.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

using Attempts = detail::Client::Attempts;

/// What the system's error says besides the message of its code.
std::string details_of(const std::system_error& error) {
  const std::string text = error.what();
  const std::size_t message = text.rfind(": " + error.code().message());
  return message == std::string::npos ? std::string{} : text.substr(0, message);
}

/// Runs a call and turns its exceptions into results.
template <class Call>
auto result_of(Call&& call) -> decltype(call()) {
  using Result = decltype(call());
  try {
    return std::forward<Call>(call)();
  } catch (const Error& error) {
    return Result{error.code(), error.details(), {error.nodes().begin(), error.nodes().end()}};
  } catch (const std::system_error& error) {  // the system has no thread, timer or random numbers
    return Result{error.code(), details_of(error)};
  }
}

/// Runs a call and turns its exceptions into error codes.
template <class Call>
std::vector<NodeReport> reports_of(std::error_code& ec, Call&& call) {
  ec.clear();
  try {
    return std::forward<Call>(call)();
  } catch (const std::system_error& error) {
    ec = error.code();
    return {};
  }
}

}  // namespace

LockClient::LockClient(std::shared_ptr<detail::Client> client) noexcept : client_{std::move(client)} {}
LockClient::LockClient(LockClient&&) noexcept = default;
LockClient& LockClient::operator=(LockClient&&) noexcept = default;
LockClient::~LockClient() = default;

// Each call holds the client while it runs. Callbacks of `FakeLocks` run inside these calls and may destroy the object.

LockResult LockClient::try_lock(std::string_view resource, const LockOptions& options) {
  return result_of(
      [&, held = client_] { return held->acquire(resource, options, Attempts::one, core::never, {}); });
}

LockResult LockClient::try_lock_for(std::string_view resource, Duration wait, const LockOptions& options,
                                    std::stop_token stop) {
  const Clock::time_point give_up_at = core::later(client_->now(), wait);
  return result_of([&, held = client_] {
    if (wait > Duration{}) return held->acquire(resource, options, Attempts::until_time, give_up_at, stop);
    // With no time left, makes one full attempt and waits for no node.
    return held->acquire(resource, detail::without_node_wait(options), Attempts::one, core::never, stop);
  });
}

LockResult LockClient::lock(std::string_view resource, const LockOptions& options, std::stop_token stop) {
  return result_of([&, held = client_] {
    return held->acquire(resource, options, Attempts::until_time, core::never, stop);
  });
}

LockResult LockClient::campaign(std::string_view name, const LockOptions& options,
                                const std::stop_token& stop) {
  return result_of([&, held = client_] {
    return held->acquire(name, options, Attempts::until_time, core::never, stop, true);
  });
}

LockResult LockClient::try_campaign(std::string_view name, const LockOptions& options) {
  return result_of(
      [&, held = client_] { return held->acquire(name, options, Attempts::one, core::never, {}, true); });
}

LockAllResult LockClient::try_lock_all(std::span<const std::string_view> resources,
                                       const LockOptions& options) {
  return result_of(
      [&, held = client_] { return held->acquire_all(resources, options, Attempts::one, core::never, {}); });
}

LockAllResult LockClient::try_lock_all_for(std::span<const std::string_view> resources, Duration wait,
                                           const LockOptions& options, std::stop_token stop) {
  const Clock::time_point give_up_at = core::later(client_->now(), wait);
  return result_of([&, held = client_] {
    if (wait > Duration{})
      return held->acquire_all(resources, options, Attempts::until_time, give_up_at, stop);
    return held->acquire_all(resources, detail::without_node_wait(options), Attempts::one, core::never, stop);
  });
}

LockAllResult LockClient::lock_all(std::span<const std::string_view> resources, const LockOptions& options,
                                   std::stop_token stop) {
  return result_of([&, held = client_] {
    return held->acquire_all(resources, options, Attempts::until_time, core::never, stop);
  });
}

LockResult LockClient::adopt(const Handover& handover, const LockOptions& options) {
  return result_of([&, held = client_] { return held->adopt(handover, options); });
}

LockResult LockClient::downgrade(Lease&& lease, const LockOptions& options) {
  return result_of([&, held = client_] { return held->downgrade(std::move(lease), options); });
}

void LockClient::shut_down() {
  const auto held = client_;
  held->shut_down();
}

std::vector<NodeReport> LockClient::inspect(std::string_view resource) {
  const auto held = client_;
  return held->inspect(resource);
}

std::vector<NodeReport> LockClient::inspect(std::string_view resource, std::error_code& ec) {
  return reports_of(ec, [&] { return inspect(resource); });
}

std::vector<NodeReport> LockClient::revoke(std::string_view resource, std::string_view why) {
  const auto held = client_;
  return held->revoke(resource, why);
}

std::vector<NodeReport> LockClient::revoke(std::string_view resource, std::string_view why,
                                           std::error_code& ec) {
  return reports_of(ec, [&] { return revoke(resource, why); });
}

std::vector<NodeReport> LockClient::break_lock(std::string_view resource,
                                               std::span<const std::string_view> owner_values) {
  const auto held = client_;
  return held->break_lock(resource, owner_values);
}

std::vector<NodeReport> LockClient::break_lock(std::string_view resource, std::string_view owner_value,
                                               std::error_code& ec) {
  return reports_of(ec, [&] { return break_lock(resource, owner_value); });
}

SequencerState LockClient::check(const Sequencer& sequencer) {
  const auto held = client_;
  return held->check(sequencer);
}

SequencerState LockClient::check(const Sequencer& sequencer, std::vector<NodeReport>& nodes) {
  const auto held = client_;
  return held->check(sequencer, &nodes);
}

SequencerState LockClient::check(const Sequencer& sequencer, std::error_code& ec) {
  ec.clear();
  try {
    return check(sequencer);
  } catch (const std::system_error& error) {
    ec = error.code();
    return SequencerState::unknown;
  }
}

}  // namespace v1
}  // namespace redlock
