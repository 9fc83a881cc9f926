#include "support/network/proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "os/quiet_thread.hpp"
#include "support/network/proxy_flow.hpp"
#include "testing/loopback_port.hpp"

namespace redlock::testing {
namespace {

using detail::Fd;
using detail::Flow;
using detail::Lane;
using detail::ProxyClock;

Proxy::Duration bounded(Proxy::Duration delay) {
  return std::clamp<Proxy::Duration>(delay, Proxy::Duration::zero(), std::chrono::hours{1});
}

/// A connection with its two sockets and two flows.
class Link {
 public:
  /// `rewriting`: null if the bytes of this connection are never rewritten.
  Link(Fd client, Fd server, Lane& lane_to_server, Lane& lane_to_client, const ReplyRewriting* rewriting)
      : client_{std::move(client)},
        server_{std::move(server)},
        rewriting_{rewriting},
        to_server_{lane_to_server, client_.get(), server_.get()},
        to_client_{lane_to_client, server_.get(), client_.get()} {
    if (!server_) to_client_.break_off(ProxyClock::now());
  }

  /// Returns false if the connection is over.
  bool step(ProxyClock::time_point now) {
    to_server_.take(now, [this](std::string bytes) {
      if (rewriting_) rewriter_.asked(bytes);
      return bytes;
    });
    to_client_.take(now, [this](std::string bytes) {
      return rewriting_ ? rewriter_.answered(bytes, *rewriting_) : bytes;
    });
    if (floods()) to_client_.flood(now);
    return pass_on(to_server_, to_client_, now) && pass_on(to_client_, to_server_, now) &&
           !(to_server_.finished() && to_client_.finished());
  }

  void half_close(Direction direction) {
    if (direction != Direction::to_client) to_server_.close_output();
    if (direction != Direction::to_server) to_client_.close_output();
  }

  /// Makes closing send RST.
  void disable_linger() {
    const linger none{1, 0};
    for (const Fd* fd : {&client_, &server_})
      ::setsockopt(fd->get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }

  /// Makes closing send FIN, as a socket with unread bytes would send RST.
  void discard_input() {
    std::array<char, 16384> buffer;
    for (const Fd* fd : {&client_, &server_}) {
      while (::recv(fd->get(), buffer.data(), buffer.size(), 0) > 0) continue;
    }
  }

  void add_events(std::vector<pollfd>& polled) const {
    add(polled, client_, static_cast<short>(to_server_.input_events() | to_client_.output_events()));
    add(polled, server_, static_cast<short>(to_client_.input_events() | to_server_.output_events()));
  }

  [[nodiscard]] ProxyClock::time_point next() const {
    if (floods()) return ProxyClock::now();
    const auto never = ProxyClock::time_point::max();
    return std::min(to_server_.next().value_or(never), to_client_.next().value_or(never));
  }

 private:
  [[nodiscard]] bool floods() const noexcept { return to_server_.has_seen_word() && to_client_.may_flood(); }

  bool pass_on(Flow& flow, Flow& back, ProxyClock::time_point now) {
    const Flow::Progress progress = flow.give(now);
    if (progress == Flow::Progress::receiver_broke) back.break_off(now);
    if (progress == Flow::Progress::reset_is_due) disable_linger();
    return progress != Flow::Progress::reset_is_due;
  }

  static void add(std::vector<pollfd>& polled, const Fd& fd, short events) {
    // Without wanted events the socket is not polled: after a hang-up, poll would return at once again and
    // again.
    if (events != 0) polled.push_back({fd.get(), events, 0});
  }

  Fd client_;
  Fd server_;
  const ReplyRewriting* rewriting_;
  detail::ReplyRewriter rewriter_;
  Flow to_server_;
  Flow to_client_;
};

}  // namespace

/// The thread, and the data that only this thread uses.
class Proxy::Loop {
 public:
  explicit Loop(std::uint16_t upstream_port);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }

  /// Runs a request on the thread and waits for its end. Throws what the request throws.
  void perform(std::function<void(Loop&)> request);

  // For requests.
  Lane to_server;
  Lane to_client;
  std::uint64_t accepted = 0;
  std::optional<ReplyRewriting> rewriting;  // none before the first call for one
  std::uint64_t changed_replies = 0;
  std::list<Link> links;
  void listen(bool on) { listener_ = on ? port_.listen() : Fd{}; }

 private:
  void run();
  void wait();
  void accept_all();
  void run_requests();

  const std::uint16_t upstream_port_;
  const detail::LoopbackPort port_;
  const Fd wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Fd listener_ = port_.listen();
  bool over_ = false;

  std::mutex mutex_;
  std::deque<std::packaged_task<void(Loop&)>> requests_;  // under mutex_

  std::thread thread_;
};

Proxy::Loop::Loop(std::uint16_t upstream_port) : upstream_port_{upstream_port} {
  thread_ = redlock::detail::quiet_thread([this] { run(); });
}

Proxy::Loop::~Loop() {
  perform([](Loop& loop) { loop.over_ = true; });
  thread_.join();
}

void Proxy::Loop::perform(std::function<void(Loop&)> request) {
  std::packaged_task<void(Loop&)> task{std::move(request)};
  auto done = task.get_future();
  {
    const std::lock_guard lock{mutex_};
    requests_.push_back(std::move(task));
  }
  ::eventfd_write(wake_.get(), 1);
  done.get();
}

void Proxy::Loop::run() {
  while (!over_) {
    wait();
    accept_all();
    const auto now = ProxyClock::now();
    links.remove_if([now](Link& link) { return !link.step(now); });
    // Last, so that all work that was possible before a request is done when the request runs.
    run_requests();
  }
}

void Proxy::Loop::wait() {
  std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
  if (listener_) polled.push_back({listener_.get(), POLLIN, 0});
  auto next = ProxyClock::time_point::max();
  for (const Link& link : links) {
    link.add_events(polled);
    next = std::min(next, link.next());
  }
  const auto left = std::max(next - ProxyClock::now(), ProxyClock::duration::zero());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  ::ppoll(polled.data(), polled.size(), next == ProxyClock::time_point::max() ? nullptr : &timeout, nullptr);
}

void Proxy::Loop::accept_all() {
  while (listener_) {
    Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!client) return;
    const int on = 1;
    ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++accepted;
    links.emplace_back(std::move(client), detail::connect_to_loopback(upstream_port_), to_server, to_client,
                       rewriting ? &*rewriting : nullptr);
  }
}

void Proxy::Loop::run_requests() {
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
  for (;;) {
    std::unique_lock lock{mutex_};
    if (requests_.empty()) return;
    auto request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    request(*this);
  }
}

Proxy::Proxy(std::uint16_t upstream_port) : loop_{std::make_unique<Loop>(upstream_port)} {}

Proxy::~Proxy() = default;

std::uint16_t Proxy::port() const noexcept { return loop_->port(); }

std::string Proxy::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void Proxy::set_delay(Duration to_server, Duration to_client) {
  loop_->perform([=](Loop& loop) {
    loop.to_server.delay = bounded(to_server);
    loop.to_client.delay = bounded(to_client);
  });
}

void Proxy::set_jitter(Duration most, std::uint64_t seed) {
  loop_->perform([=](Loop& loop) {
    loop.to_server.jitter = loop.to_client.jitter = bounded(most);
    loop.to_server.random.seed(seed);
    loop.to_client.random.seed(seed + 1);
  });
}

void Proxy::stall(bool on, Direction direction) {
  loop_->perform([=](Loop& loop) {
    if (direction != Direction::to_client) loop.to_server.stalled = on;
    if (direction != Direction::to_server) loop.to_client.stalled = on;
  });
}

void Proxy::single_bytes(bool on) {
  loop_->perform([=](Loop& loop) { loop.to_server.single_bytes = loop.to_client.single_bytes = on; });
}

void Proxy::trickle(Duration pause, Direction direction) {
  loop_->perform([=](Loop& loop) {
    if (direction != Direction::to_client) loop.to_server.pause = bounded(pause);
    if (direction != Direction::to_server) loop.to_client.pause = bounded(pause);
  });
}

void Proxy::refuse(bool on) {
  loop_->perform([=](Loop& loop) { loop.listen(!on); });
}

void Proxy::flood(std::string bytes, std::string word) {
  loop_->perform([&](Loop& loop) {
    loop.to_client.flood = std::move(bytes);
    loop.to_server.word = std::move(word);
  });
}

void Proxy::replace(std::string from, std::string to) {
  loop_->perform([&](Loop& loop) {
    loop.to_client.replaced = std::move(from);
    loop.to_client.replacement = std::move(to);
  });
}

void Proxy::rewrite(ReplyRewriting rewriting) {
  loop_->perform([&](Loop& loop) {
    loop.rewriting.emplace();
    if (!rewriting) return;
    loop.rewriting = [rewriting = std::move(rewriting), &loop](const std::vector<std::string>& command,
                                                               const std::string& reply) {
      std::string rewritten = rewriting(command, reply);
      if (rewritten != reply) ++loop.changed_replies;
      return rewritten;
    };
  });
}

void Proxy::cut(Cut how) {
  loop_->perform([=](Loop& loop) {
    for (Link& link : loop.links) how == Cut::reset ? link.disable_linger() : link.discard_input();
    loop.links.clear();
  });
}

void Proxy::half_close(Direction direction) {
  loop_->perform([=](Loop& loop) {
    for (Link& link : loop.links) link.half_close(direction);
  });
}

ProxyCounters Proxy::counters() const {
  ProxyCounters result;
  loop_->perform([&](Loop& loop) {
    result = {loop.accepted,
              loop.links.size(),
              loop.to_server.bytes,
              loop.to_client.bytes,
              loop.changed_replies,
              loop.to_client.flood_bytes,
              loop.to_server.trickled_bytes + loop.to_client.trickled_bytes};
  });
  return result;
}

std::uint64_t Proxy::late(Duration bound, Direction direction) const {
  std::uint64_t count = 0;
  loop_->perform([&](Loop& loop) {
    if (direction != Direction::to_client) count += loop.to_server.later_than(bound);
    if (direction != Direction::to_server) count += loop.to_client.later_than(bound);
  });
  return count;
}

}  // namespace redlock::testing
