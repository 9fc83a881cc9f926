#include "redlock/kinds/election.hpp"

#include <ostream>
#include <utility>

#include "api/client.hpp"
#include "api/kinds/leader_reports.hpp"
#include "api/limits.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"
#include "redlock/node_report.hpp"

namespace redlock {
inline namespace v1 {
namespace {

LockOptions of_candidate(LockOptions options, std::string_view candidate) {
  options.label = candidate;
  return detail::for_one_holder(std::move(options), "an election");
}

}  // namespace

namespace detail {

std::optional<Leader> leader_of(const core::Holding& seen) {
  if (!seen.owner) return std::nullopt;
  Holder holder{*seen.owner};
  if (holder.is_kept() || holder.is_shared()) return std::nullopt;
  return Leader{holder.label.empty() ? std::move(holder.owner_value) : std::move(holder.label),
                FencingToken{seen.token}};
}

}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Leader& leader) {
  out << core::printable(leader.candidate);
  return leader.token ? out << ", token " << leader.token.value() : out;
}

// ── observations ────────────────────────────────────────────────────────────────────────────────────────────

struct Observation::Parts {
  Parts(std::shared_ptr<detail::Client> of, detail::LeaderReports::Callback callback)
      : client{std::move(of)}, reports{std::make_shared<detail::LeaderReports>(std::move(callback))} {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    if (client->stop_watching(watch)) reports->stop();
  }

  const std::shared_ptr<detail::Client> client;
  const std::shared_ptr<detail::LeaderReports> reports;
  const core::HolderWatch* watch = nullptr;
};

Observation::Observation(std::unique_ptr<Parts> parts) noexcept : parts_{std::move(parts)} {}
Observation::Observation(Observation&&) noexcept = default;
Observation& Observation::operator=(Observation&&) noexcept = default;
Observation::~Observation() = default;

// ── elections ───────────────────────────────────────────────────────────────────────────────────────────────

Election::Election(LockClient& client, std::string_view name, std::string_view candidate, LockOptions options)
    : client_{client.client_}, name_{name}, options_{of_candidate(std::move(options), candidate)} {}
Election::~Election() = default;

LockResult Election::campaign(std::stop_token stop) { return client_.campaign(name_, options_, stop); }
LockResult Election::try_campaign() { return client_.try_campaign(name_, options_); }

std::optional<Leader> Election::leader() { return detail::leader_of(client_.client().holder(name_)); }

Observation Election::observe(std::function<void(const std::optional<Leader>&)> callback) {
  if (!callback) throw Error{Errc::invalid_argument, "an observer of an election needs a callback"};
  detail::Client& client = client_.client();
  auto parts = std::make_unique<Observation::Parts>(client_.client_, std::move(callback));
  parts->watch = client.watch_holder(name_, [reports = parts->reports, &news = client.news()](
                                                const core::Holding& seen) { reports->changed(seen, news); });
  return Observation{std::move(parts)};
}

}  // namespace v1
}  // namespace redlock
