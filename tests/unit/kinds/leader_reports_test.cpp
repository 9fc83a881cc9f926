// What observers of an election are told when memory runs out.
#include "api/kinds/leader_reports.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/failing_memory.hpp"

namespace {

using redlock::Leader;
using redlock::core::Holding;
using redlock::detail::LeaderReports;
using redlock::detail::LeaseRecord;
using redlock::testing::succeeds_with;

/// Keeps calls until the test makes them.
class KeptCalls final : public redlock::detail::LossReports {
 public:
  bool add(std::span<const std::shared_ptr<LeaseRecord>>) override { return true; }
  std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&) override { return {}; }
  bool wait(const std::shared_ptr<LeaseRecord>&, redlock::core::Time, const std::stop_token&) override {
    return true;
  }
  void lost(const std::shared_ptr<LeaseRecord>&) noexcept override {}
  void asked(const std::shared_ptr<LeaseRecord>&, std::string_view) noexcept override {}
  void forget(const std::shared_ptr<LeaseRecord>&) noexcept override {}
  void begin() override {}
  bool call_soon(std::function<void()> call) noexcept override {
    kept_ = std::move(call);
    return true;
  }
  [[nodiscard]] const std::function<void(std::string_view)>& report() const noexcept override {
    return report_;
  }
  void make_call() {
    if (const auto call = std::exchange(kept_, nullptr)) call();
  }

 private:
  std::function<void()> kept_;
  std::function<void(std::string_view)> report_;
};

}  // namespace

TEST_CASE("an_observer_that_was_not_told_for_lack_of_memory_is_told_of_the_next_leader") {
  const Holding first{"redlock: the owner value of a leader, which is longer than short strings are", 1};
  const Holding second{"redlock: the owner value of its successor, which is longer than short strings are",
                       2};
  bool has_memory = false;
  for (int successes = 0; !has_memory; ++successes) {
    std::vector<std::uint64_t> told;
    const auto reports = std::make_shared<LeaderReports>(
        [&told](const std::optional<Leader>& leader) { told.push_back(leader ? leader->token.value() : 0); });
    KeptCalls news;
    told.reserve(4);
    reports->changed(first, news);
    {
      const redlock::testing::FailingMemory memory{successes};
      news.make_call();
    }
    has_memory = !told.empty();
    CAPTURE(successes);
    reports->changed(second, news);
    news.make_call();
    REQUIRE_FALSE(told.empty());
    CHECK(told.back() == 2);
    CHECK(told.size() == (has_memory ? 2U : 1U));
    reports->stop();
  }
}
