#include "fake/fake_shell.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "fake/replies.hpp"
#include "notify/user_code.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::ConnectionIndex;
using core::Reply;
using core::Time;

/// The message by which a server tells a listener of a changed key.
Reply invalidation_of(const std::string& key) {
  return array({string("message"), string("__redis__:invalidate"), array({string(key)})});
}

}  // namespace

FakeShell::FakeShell(std::shared_ptr<FakeClock> clock, Parts parts)
    : clock_{std::move(clock)},
      report_{std::move(parts.report)},
      engine_{std::move(parts.sessions), parts.connect_timeout, 1, parts.guard, parts.observer,
              std::move(parts.member)},
      states_(engine_.nodes(), FakeNodeState::working) {
  for (std::size_t node = 0; node < engine_.nodes(); ++node)
    nodes_.emplace_back("fake-" + std::to_string(node));
}

// ── the time ────────────────────────────────────────────────────────────────────────────────────────────────

/// Moves to the next timer of the client, or to `until` if that comes first. Returns the new time.
Time FakeShell::step(Time until) {
  exchange();
  const Time next = std::clamp(std::min(engine_.timer(), loss_queue_.timer()), now(), std::max(until, now()));
  clock_->set(next);
  engine_.on_time(next);
  exchange();
  return next;
}

void FakeShell::advance(core::Span span) {
  const Time until = core::later(now(), std::max(span, core::Span::zero()));
  for (bool is_over = false; !is_over;) {
    {
      const Lock lock{mutex_};
      is_over = step(until) >= until;
    }
    report_news();
  }
}

std::uint64_t FakeShell::random() {
  const Lock lock{mutex_};
  return core::next_random(random_);
}

// ── operations ──────────────────────────────────────────────────────────────────────────────────────────────

void FakeShell::run_until_done(std::unique_ptr<core::Operation> fresh, const std::stop_token& stop,
                               const Take& take) {
  {
    Lock lock{mutex_};
    const core::Ref<core::Operation> operation{fresh.release()};
    engine_.submit(operation, now());
    exchange();
    while (!operation->done()) {
      if (stop.stop_requested()) {
        engine_.abandon(operation, Errc::cancelled, now());
        continue;
      }
      step(core::never);
      lock.unlock();
      report_news();  // otherwise a loss would be due at once, and the time would not move any more
      std::this_thread::yield();  // to a holder on another thread
      lock.lock();
    }
    exchange();  // the releases of a failed attempt
    take(*operation);
  }
  report_news();
}

void FakeShell::keep(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  engine_.keep(lease, now());
  engine_.watch(lease, now(), core::a_moment);
}

void FakeShell::watch(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  engine_.watch(lease, now());
}

void FakeShell::watch_holder(std::unique_ptr<core::HolderWatch> watch) {
  {
    const Lock lock{mutex_};
    engine_.watch_holder(core::Ref<core::HolderWatch>{watch.release()}, now());
    step(now());
  }
  report_news();
}

void FakeShell::stop_watching(const core::HolderWatch* watch) {
  const Lock lock{mutex_};
  engine_.stop_watching(watch);
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────────

void FakeShell::overwrite(const std::string& key, const std::optional<std::string>& value, core::Span ttl) {
  {
    const Lock lock{mutex_};
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (value)
        nodes_[node].set(key, *value, core::later(now(), ttl));
      else
        nodes_[node].remove(key);
      const ConnectionIndex listener = nodes_.size() + node;
      if (states_[node] == FakeNodeState::working && engine_.session(listener).ready())
        engine_.answered(listener, invalidation_of(key), now());
    }
  }
  advance(std::chrono::milliseconds{10});  // a fresh lease is not watched before it has lived for 5 ms
}

bool FakeShell::set_node(std::size_t node, FakeNodeState state) {
  {
    const Lock lock{mutex_};
    if (node >= states_.size()) return false;
    const bool is_new = std::exchange(states_[node], state) != state;
    if (is_new && state != FakeNodeState::hanging)
      for (const ConnectionIndex each : {node, nodes_.size() + node})
        engine_.disconnected(each, {NodeStatus::connection_lost, "the server closed the connection"}, now());
    exchange();
  }
  report_news();
  return true;
}

/// Passes bytes and connections to and fro until nothing is left to pass.
void FakeShell::exchange() {
  for (bool is_busy = true; is_busy;) {
    is_busy = false;
    for (ConnectionIndex each = 0; each < engine_.connections(); ++each) is_busy |= exchange(each);
  }
  engine_.finished().clear();
}

bool FakeShell::exchange(ConnectionIndex each) {
  core::Session& session = engine_.session(each);
  const bool has_errand = session.has_errand();
  if (const auto closing = session.take_closing(); closing && closing->graceful)
    answer(each, closing->unsent, false);
  if (session.take_dial()) {
    if (state_of(each) == FakeNodeState::working) engine_.connected(each);
    if (state_of(each) == FakeNodeState::refusing)
      engine_.disconnected(each, {NodeStatus::unreachable, "Connection refused"}, now());
  }
  const std::string bytes{session.unsent()};
  if (bytes.empty()) return has_errand;
  session.sent(bytes.size());
  answer(each, bytes, true);
  return true;
}

void FakeShell::answer(ConnectionIndex each, std::string_view commands, bool is_read) {
  std::vector<std::string_view> words;
  while (!commands.empty()) {
    core::take_command(commands, words);
    if (state_of(each) != FakeNodeState::working) continue;
    const Reply reply =
        nodes_[each % nodes_.size()].execute({words.begin(), words.end()}, {now(), clock_->wall()});
    if (is_read) engine_.answered(each, reply, now());
  }
}

// ── leases ──────────────────────────────────────────────────────────────────────────────────────────────────

bool FakeShell::let_go(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  return core::Engine::let_go(lease, now());
}

void FakeShell::shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases) {
  {
    const Lock lock{mutex_};
    engine_.shut_down(leases, now());
    exchange();
  }
  report_news();
}

bool FakeShell::add(std::span<const std::shared_ptr<LeaseRecord>> records) {
  const Lock lock{mutex_};
  const auto in_force = [this](const auto& record) { return record->in_force(now()); };
  if (!std::ranges::all_of(records, in_force)) return false;
  for (const std::shared_ptr<LeaseRecord>& record : records) loss_queue_.add(record);
  return true;
}

std::stop_token FakeShell::stop_token(const std::shared_ptr<LeaseRecord>& record) {
  const Lock lock{mutex_};
  if (!record->stop.stop_possible()) {
    record->stop = std::stop_source{};
    if (record->in_force(now())) loss_queue_.add(record);
    if (record->loss(now()) != Loss::none) record->stop.request_stop();
  }
  return record->stop.get_token();
}

bool FakeShell::wait(const std::shared_ptr<LeaseRecord>& record, Time until, const std::stop_token& stop) {
  add({&record, 1});
  for (bool is_over = false; !is_over;) {
    {
      const Lock lock{mutex_};
      is_over = !record->in_force(now()) || now() >= until || stop.stop_requested();
      if (!is_over) step(until);
    }
    report_news();  // also if another thread has ended the lease, so that its callback has begun before this returns
    std::this_thread::yield();
  }
  return record->in_force(now());
}

void FakeShell::asked(const std::shared_ptr<LeaseRecord>& record, std::string_view why) noexcept try {
  if (record->in_force(now())) requests_.push_back({record, std::string{why}});
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory: the holder is not told
}

void FakeShell::forget(const std::shared_ptr<LeaseRecord>& record) noexcept {
  const Lock lock{mutex_};
  loss_queue_.remove(record);
  std::erase_if(requests_, [&](const auto& request) { return request.to == record; });
}

bool FakeShell::call_soon(std::function<void()> call) noexcept try {
  calls_.push_back(std::move(call));
  return true;
} catch (const std::exception&) {  // no memory
  return false;
}

/// Runs the user's callbacks. Takes them one after the other, because one may release the lease of the next.
void FakeShell::report_news() {
  for (;;) {
    Lock lock{mutex_};
    if (!calls_.empty()) {
      const auto calls = std::exchange(calls_, {});
      lock.unlock();
      for (const auto& call : calls) call();
    } else if (!requests_.empty()) {
      Request request = std::move(requests_.front());
      requests_.pop_front();
      auto callback = request.to->take_request(std::move(request.why));
      lock.unlock();
      run_callback(std::move(callback), "a revocation callback", report_);
    } else if (const std::shared_ptr<LeaseRecord> lost = loss_queue_.take_lost(now())) {
      auto callback = lost->take_callback(now());
      lock.unlock();
      run_callback(std::move(callback), "a loss callback", report_);
    } else {
      return;
    }
  }
}

}  // namespace redlock::inline v1::detail
