// Leases that end before their call returns, as on a machine that is too busy.
#include <chrono>
#include <functional>
#include <memory>
#include <redlock/redlock.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "fake/fake_shell.hpp"
#include "support/catch.hpp"
#include "support/recording_observer.hpp"

using namespace redlock;
using namespace std::chrono_literals;
using redlock::detail::Client;
using redlock::detail::FakeClock;
using redlock::detail::FakeShell;
using redlock::detail::LeaseRecord;
using redlock::detail::Shell;

namespace {

enum class Late { before_losses_are_reported, after_that, by_shutdown };

/// The first call takes longer than a ttl, or meets a shutdown.
class LateShell final : public FakeShell {
 public:
  LateShell(Late when, std::shared_ptr<FakeClock> clock, Shell::Parts parts)
      : FakeShell{std::move(clock), std::move(parts)}, when_{when} {}

  bool add(std::span<const std::shared_ptr<LeaseRecord>> records) override {
    if (when_ == Late::before_losses_are_reported) be_late();
    if (when_ == Late::by_shutdown) shut_client_down();
    return FakeShell::add(records);
  }
  void watch(const std::shared_ptr<core::LeaseState>& lease) override {
    if (when_ == Late::after_that) be_late();
    FakeShell::watch(lease);
  }

  std::function<void()> shut_client_down;

 private:
  void be_late() {
    if (!std::exchange(was_late_, true)) advance(2min);
  }

  const Late when_;
  bool was_late_ = false;
};

struct LateClient {
  explicit LateClient(Late when, std::shared_ptr<Observer> observer = nullptr)
      : client{std::make_shared<Client>(
            std::vector<Endpoint>{"redis://a", "redis://b", "redis://c"},
            Options{.restart_guard = RestartGuard::off, .observer = std::move(observer)},
            [time = clock] { return time->wall(); },
            [this, when](Shell::Parts parts) {
              shell = new LateShell{when, clock, std::move(parts)};
              return detail::OwnProcessPtr<Shell>{shell};
            })} {
    shell->shut_client_down = [this] { client->shut_down(); };
  }

  const std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  LateShell* shell = nullptr;
  std::vector<Loss> losses;
  LockOptions options{
      .ttl = 1min, .renewal = Renewal::none, .on_lost = [this](Loss loss) { losses.push_back(loss); }};
  const std::shared_ptr<Client> client;
};

}  // namespace

TEST_CASE("the_loss_of_a_lease_is_reported_if_and_only_if_its_call_returns_it") {
  for (const Late when : {Late::before_losses_are_reported, Late::after_that}) {
    LateClient late{when};
    const auto give_up_at = late.clock->now() + 1h;
    const Lease lease =
        late.client->acquire("r", late.options, Client::Attempts::until_time, give_up_at, {}).value();
    const bool goes_on = when == Late::before_losses_are_reported;
    CHECK(lease.loss() == (goes_on ? Loss::none : Loss::deadline_passed));
    CHECK(late.losses == (goes_on ? std::vector<Loss>{} : std::vector{Loss::deadline_passed}));
  }
}

TEST_CASE("the_losses_of_the_leases_of_one_call_are_reported_if_and_only_if_it_returns_them") {
  constexpr std::string_view resources[] = {"one", "two"};
  for (const Late when : {Late::before_losses_are_reported, Late::after_that}) {
    LateClient late{when};
    const auto give_up_at = late.clock->now() + 1h;
    const Leases leases =
        late.client->acquire_all(resources, late.options, Client::Attempts::until_time, give_up_at, {})
            .value();
    const bool goes_on = when == Late::before_losses_are_reported;
    CHECK(leases.valid() == goes_on);
    CHECK(late.losses.size() == (goes_on ? 0U : 2U));
  }
}

TEST_CASE("an_observer_hears_of_the_end_of_a_lease_only_if_its_call_has_returned_it") {
  for (const bool has_callback : {false, true}) {
    const auto observer = std::make_shared<testing::RecordingObserver>();
    {
      LateClient late{Late::before_losses_are_reported, observer};
      if (!has_callback) late.options.on_lost = nullptr;
      const auto give_up_at = late.clock->now() + 1h;
      const Lease lease =
          late.client->acquire("r", late.options, Client::Attempts::until_time, give_up_at, {}).value();
      CHECK(lease.valid());
    }
    const std::vector<Observer::Hold> ended = observer->holds();
    REQUIRE(ended.size() == 1);
    CHECK(ended.front().release == Release::released);
    CHECK(observer->attempts().size() == 2);
  }
}

TEST_CASE("an_observer_hears_of_the_ends_of_the_leases_of_one_call_only_if_it_returns_them") {
  constexpr std::string_view resources[] = {"one", "two"};
  const auto observer = std::make_shared<testing::RecordingObserver>();
  {
    LateClient late{Late::before_losses_are_reported, observer};
    late.options.on_lost = nullptr;
    const auto give_up_at = late.clock->now() + 1h;
    const Leases leases =
        late.client->acquire_all(resources, late.options, Client::Attempts::until_time, give_up_at, {})
            .value();
    CHECK(leases.valid());
  }
  const std::vector<Observer::Hold> ended = observer->holds();
  REQUIRE(ended.size() == 2);
  for (const Observer::Hold& hold : ended) CHECK(hold.release == Release::released);
}

TEST_CASE("neither_callback_nor_observer_hears_of_a_lease_that_a_shutdown_has_ended_before_the_return") {
  const auto observer = std::make_shared<testing::RecordingObserver>();
  for (const bool has_callback : {false, true}) {
    LateClient late{Late::by_shutdown, observer};
    if (!has_callback) late.options.on_lost = nullptr;
    const LockResult result = late.client->acquire("r", late.options, Client::Attempts::one, core::never, {});
    CHECK(result.code() == Errc::cancelled);
    CHECK(late.losses.empty());
  }
  CHECK(observer->holds().empty());
}

TEST_CASE("a_call_that_does_not_wait_returns_no_lease_that_is_over_and_reports_no_loss") {
  LateClient late{Late::before_losses_are_reported};
  const LockResult result = late.client->acquire("r", late.options, Client::Attempts::one, core::never, {});
  CHECK(result.code() == Errc::too_slow);
  CHECK(late.losses.empty());
}
