// The shell of a client that uses real nodes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/shell.hpp"
#include "io/reactor.hpp"
#include "notify/loss_notifier.hpp"
#include "os/random.hpp"

namespace redlock::inline v1::detail {

class SocketShell final : public Shell {
 public:
  explicit SocketShell(Parts parts)
      : losses_{std::move(parts.report)},
        reactor_{parts.nodes,
                 std::move(parts.sessions),
                 parts.connect_timeout,
                 random_number(),
                 parts.guard,
                 parts.observer,
                 std::move(parts.member),
                 [this](std::string warning) { losses_.warn(std::move(warning)); }} {}

  void close_in_child() const noexcept override {
    reactor_.close_in_child();
    losses_.close_in_child();
  }
  [[nodiscard]] core::Time now() const noexcept override { return Clock::now(); }
  [[nodiscard]] std::uint64_t random() override { return random_number(); }
  void keep(const std::shared_ptr<core::LeaseState>& lease) override { reactor_.keep(lease); }
  void watch(const std::shared_ptr<core::LeaseState>& lease) override { reactor_.watch(lease); }
  [[nodiscard]] core::HeldLeases* held_leases() noexcept override { return reactor_.held_leases(); }
  bool let_go(const std::shared_ptr<core::LeaseState>& lease) override { return reactor_.let_go(lease); }
  void shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases) override {
    reactor_.shut_down(leases);
  }
  [[nodiscard]] LossReports& losses() noexcept override { return losses_; }

 private:
  friend struct TestAccess;  // the tests define it

  void run_until_done(std::unique_ptr<core::Operation> operation, const std::stop_token& stop,
                      const Take& take) override {
    reactor_.run(std::move(operation), stop, take);
  }

  LossNotifier losses_;
  Reactor reactor_;  // uses the loss notifier, so it is destroyed first
};

}  // namespace redlock::inline v1::detail
