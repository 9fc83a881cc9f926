#include "notify/credentials_keeper.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "notify/user_code.hpp"
#include "os/quiet_thread.hpp"
#include "os/wake_event.hpp"
#include "redlock/clock.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::Span;
using core::Time;

/// A source may be a service that is asked over the network.
constexpr Span shortest_interval = std::chrono::seconds{1};

}  // namespace

struct CredentialsKeeper::State {
  explicit State(Task given) : task{std::move(given)} {}

  void run() {
    for (bool has_failed = false; pause();) {
      const bool had_failed = std::exchange(has_failed, false);
      for (std::size_t node = 0; node < task.nodes; ++node)
        if (!ask(node, had_failed, has_failed)) return;
    }
  }
  /// Returns false at the end.
  bool pause() const {
    const Time begun = Clock::now();
    Time until = core::later(begun, task.interval);
    std::array<pollfd, 2> polls{pollfd{end.fd(), POLLIN, 0}, pollfd{haste.fd(), POLLIN, 0}};
    for (Time now = begun; now < until; now = Clock::now()) {
      const Span left = std::min<Span>(until - now, std::chrono::hours{1});
      ::poll(polls.data(), polls.size(),
             static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
      if (polls[0].revents != 0) return false;
      if (polls[1].revents == 0) continue;
      haste.clear();
      polls[1].fd = -1;
      until = std::min(until, begun + shortest_interval);
    }
    return true;
  }
  /// `had_failed`, `has_failed`: the source, in the last round or in this one. Returns false at the end.
  bool ask(std::size_t node, bool had_failed, bool& has_failed) try {
    std::optional<Credentials> found;
    std::string why;
    run_user_code([&] { found = task.ask(node); }, [&](std::string_view what) { why = what; });
    const std::lock_guard lock{mutex};
    if (stopping) return false;
    if (found) task.tell(node, *found);
    if (!found && !std::exchange(has_failed, true) && !had_failed)
      task.warn("the source of credentials failed, so the last ones stay: " + why);
    return true;
  } catch (const std::exception&) {  // no memory or thread: the next round tells it again
    return true;
  }

  const Task task;
  WakeEvent end;
  WakeEvent haste;
  std::thread thread;

  std::mutex mutex;
  // The mutex guards what follows, and is held during `tell` and `warn`, so that none of them runs after the end.
  bool stopping = false;
};

CredentialsKeeper::CredentialsKeeper(Task task) : state_{std::make_shared<State>(std::move(task))} {}

void CredentialsKeeper::start() {
  pin_module();  // the source may destroy the client
  state_->thread = quiet_thread([state = state_] { state->run(); });
}

void CredentialsKeeper::hurry() const noexcept { state_->haste.set(); }

void CredentialsKeeper::stop() {
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopping = true;
  }
  state_->end.set();
  end_callback_thread(state_->thread);
}

void CredentialsKeeper::close_in_child() const noexcept {
  state_->end.close_in_child();
  state_->haste.close_in_child();
}

}  // namespace redlock::inline v1::detail
