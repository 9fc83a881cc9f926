// The calls for several locks at once.
#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "api/client.hpp"
#include "api/limits.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/joint_pursuit.hpp"
#include "redlock/core/operation/together.hpp"

namespace redlock::inline v1::detail {
namespace {

constexpr std::size_t most_resources = 64;

/// The order of the resources' keys, as indices. Throws Error (invalid_argument) if a resource was given twice.
std::vector<std::size_t> order_of(std::span<const std::string_view> resources) {
  if (resources.empty() || resources.size() > most_resources)
    throw Error{Errc::invalid_argument,
                std::to_string(resources.size()) + " resources were given; allowed: 1 to 64"};
  std::vector<std::size_t> order(resources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto name = [&](std::size_t which) { return resources[which]; };
  std::ranges::sort(order, {}, name);
  const auto twice = std::ranges::adjacent_find(order, {}, name);
  if (twice != order.end())
    throw Error{Errc::invalid_argument, "the resource " + core::printable(name(*twice)) + " was given twice"};
  return order;
}

}  // namespace

LockAllResult Client::acquire_all(std::span<const std::string_view> resources, const LockOptions& options,
                                  Attempts attempts, core::Time give_up_at, const std::stop_token& stop) {
  check_process();
  check_has_no_seats(options);
  const core::Time called = events_ ? now() : core::Time{};
  const std::vector<std::size_t> order = order_of(resources);
  std::vector<core::Claim> claims;
  for (const std::size_t which : order) claims.push_back(claim_of(resources[which], options));
  std::optional<LockAllResult> result;
  while (!result)
    result = run(call_of(resources[order.front()], options, attempts, give_up_at), claims, resources, order,
                 options, stop);
  if (attempts == Attempts::until_time)
    for (const std::string_view resource : resources)
      tell_of_wait(resource, kind_of(options), result->code(), called);
  return std::move(*result);
}

/// Returns none as `run` for one lock does. `order`: which resource each claim is for.
std::optional<LockAllResult> Client::run(core::LockCall&& call, std::vector<core::Claim> claims,
                                         std::span<const std::string_view> resources,
                                         const std::vector<std::size_t>& order, const LockOptions& options,
                                         const std::stop_token& stop) {
  const auto result_of = [&](core::JointPursuit::Failure why) {
    const bool is_about_one = why.tally.has_value();
    Failure explained = failed({why.code, std::move(why.tally)});
    if (is_about_one) explained.details.insert(0, core::printable(resources[order[why.which]]) + ": ");
    return LockAllResult{explained.code, std::move(explained.details), std::move(explained.nodes)};
  };
  if (is_shut_down_ || stop.stop_requested()) return result_of({Errc::cancelled, std::nullopt, 0});
  const core::Time tries_until = call.waits() ? call.give_up_at : core::Time::min();
  std::optional<core::JointPursuit::Failure> failure;
  std::vector<Record> records;
  records.reserve(order.size());  // not when the locks are taken: memory may run out
  auto pursuit = std::make_unique<core::JointPursuit>(std::move(call), std::move(claims), names_.size());
  std::vector<Granted> granted;
  granted.reserve(order.size());
  shell_->run(std::move(pursuit), stop, [&](core::JointPursuit& done) {
    if (!done.granted()) failure = done.take_failure();
    for (std::size_t which = 0; !failure && which < order.size(); ++which)
      granted.emplace_back((*done.granted())[which]);
  });
  if (failure) return result_of(std::move(*failure));
  std::vector<Lease> leases(order.size());  // from here on, all are released if something fails
  for (std::size_t which = 0; which < order.size(); ++which)
    leases[order[which]] = make_lease(resources[order[which]], options, granted[which]);
  Leases all{std::move(leases)};
  for (const Lease& lease : all) records.push_back(lease.record_);
  if (begin_leases(records, options)) return all;
  if (is_shut_down_) return result_of({Errc::cancelled, std::nullopt, 0});
  if (now() < tries_until) return std::nullopt;
  return result_of({Errc::too_slow, std::move(granted.front().tally), 0});
}

void Client::release(std::span<Lease> leases) noexcept {
  std::shared_ptr<Client> client;  // leases that were moved out have none
  std::vector<Record> records;
  try {
    for (const Lease& lease : leases) {
      if (!client) client = lease.client_;
      if (client && lease.client_ == client && !lease.record_->release_outcome)
        records.push_back(lease.record_);
    }
  } catch (const std::bad_alloc&) {
    return;  // each is released alone
  }
  if (records.size() < 2) return;
  // In portions that a connection takes, also behind others that wait there.
  constexpr std::size_t most = std::size_t{1} << 19U;
  std::size_t bytes = 0;
  auto first = records.begin();
  for (auto each = first; each != records.end(); ++each) {
    const core::Claim& claim = (*each)->claim;
    const std::size_t size = claim.key.size() * (claim.is_shared() ? 2 : 1) + 500;  // at most
    if (bytes + size > most) {
      client->release_all({first, each});
      first = each;
      bytes = 0;
    }
    bytes += size;
  }
  client->release_all({first, records.end()});
}

void Client::release_all(std::span<const Record> records) noexcept {
  try {
    check_process();
    std::vector<core::Ref<core::Operation>> operations;
    std::vector<core::ReleaseOperation*> releases;
    for (const Record& record : records) {
      auto* const release = new core::ReleaseOperation{record, names_.size()};
      operations.emplace_back(release);
      releases.push_back(release);
    }
    auto together = std::make_unique<core::Together>(std::move(operations));
    shell_->run(std::move(together), {}, [&](const core::Together&) {
      for (std::size_t each = 0; each < records.size(); ++each) {
        records[each]->count(releases[each]->begun(), releases[each]->outcome());
        records[each]->release_outcome = releases[each]->outcome();
      }
    });
  } catch (const std::exception&) {
    return;  // no memory, or in a child of fork(): each is released alone
  }
  for (const Record& record : records) forget(record);
}

}  // namespace redlock::inline v1::detail
