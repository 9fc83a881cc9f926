// The shell of a client that uses real nodes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/shell.hpp"
#include "io/reactor.hpp"
#include "notify/credentials_keeper.hpp"
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
                 {.warn = [this](std::string warning) { losses_.warn(std::move(warning)); },
                  .login_refused =
                      [this] {
                        if (credentials_) credentials_->hurry();
                      }}} {
    if (parts.credentials) keep_credentials(parts);
  }
  ~SocketShell() override {
    if (credentials_) credentials_->stop();
  }
  SocketShell(const SocketShell&) = delete;
  SocketShell& operator=(const SocketShell&) = delete;

  void close_in_child() const noexcept override {
    reactor_.close_in_child();
    losses_.close_in_child();
    if (credentials_) credentials_->close_in_child();
  }
  [[nodiscard]] core::Time now() const noexcept override { return Clock::now(); }
  [[nodiscard]] std::uint64_t random() override { return random_number(); }
  void keep(const std::shared_ptr<core::LeaseState>& lease) override { reactor_.keep(lease); }
  void watch(const std::shared_ptr<core::LeaseState>& lease) override { reactor_.watch(lease); }
  void watch_holder(std::unique_ptr<core::HolderWatch> watch) override {
    reactor_.watch_holder(std::move(watch));
  }
  void stop_watching(const core::HolderWatch* watch) override { reactor_.stop_watching(watch); }
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

  void keep_credentials(const Parts& parts) {
    credentials_ = std::make_unique<CredentialsKeeper>(CredentialsKeeper::Task{
        .nodes = parts.nodes.size(),
        .interval = parts.credentials_interval,
        .ask = [nodes = parts.nodes,
                source = parts.credentials](std::size_t node) { return source(nodes[node]); },
        .tell = [this](std::size_t node, const Credentials& found) { reactor_.log_in(node, found); },
        .warn = [this](std::string warning) { losses_.warn(std::move(warning)); }});
    credentials_->start();
  }

  LossNotifier losses_;
  std::unique_ptr<CredentialsKeeper> credentials_;  // null: they do not change
  Reactor reactor_;                                 // uses both, so it is destroyed first
};

}  // namespace redlock::inline v1::detail
