// For any replies, messages, lost connections, calls and times: a client grants only what a majority granted, does little for
// each event and each byte, uses little memory, reports to its observer what has happened, and ends everything.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/choices.hpp"
#include "fuzz/client/checking_observer.hpp"
#include "fuzz/client/limits.hpp"
#include "fuzz/client/live_memory.hpp"
#include "fuzz/client/work.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/server_answers.hpp"
#include "io/reader.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "redlock/core/lock/pursuit.hpp"

namespace {

using namespace redlock::testing;
namespace core = redlock::core;
using redlock::Errc;
using redlock::NodeStatus;

/// A client of three nodes, without sockets. Arbitrary bytes choose what servers, callers and the clock do.
class FuzzedClient {
 public:
  static constexpr std::size_t nodes = 3;

  explicit FuzzedClient(Choices& choices)
      : choices_{choices},
        bytes_{choices.left()},
        options_{choices.next()},
        engine_{settings(), std::chrono::milliseconds{500}, options_, guard(),
                &observer_, "0123456789abcdef.fuzzed"} {
    for (Connection& connection : connections_) connection.reader.emplace();
    call();
  }

  /// Lets one thing happen, and whatever follows from it.
  void step() {
    ++now_step_;
    replies_ = 0;
    const Work before = Work::so_far();
    switch (choices_.below(14)) {
      case 0:
        pass_time();
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        answer_all_of_a_kind();
        break;
      case 5:
        answer(choices_.below(2 * nodes), odd_reply(choices_.next()));
        break;
      case 6:
        send_raw(choices_.below(2 * nodes), choices_.take(choices_.below(64)));
        break;
      case 7:
        lose(choices_.below(2 * nodes), {NodeStatus::unreachable, "the connection was lost"});
        break;
      case 8:
        call();
        break;
      case 9:
        use_a_lease();
        break;
      case 10:
        cancel_a_call();
        break;
      case 11:
      case 12:
        push(nodes + choices_.below(nodes));
        break;
      default:
        inspect();
        break;
    }
    settle();
    (Work::so_far() - before)
        .must_be_within(most_for_an_event + replies_ * most_for_a_reply, Work::During::event);
    check_memory();
  }

  /// All calls are cancelled, and no server can be reached any more: nothing may be left.
  void end() {
    engine_.shut_down({}, now_);
    for (const core::Ref<core::Pursuit>& call : calls_)
      if (!call->done()) engine_.abandon(core::Ref<core::Operation>{call.get()}, Errc::cancelled, now_);
    settle();
    leases_.clear();
    for (std::size_t line = 0; line < connections_.size(); ++line)
      lose(line, {NodeStatus::unreachable, "the connection was lost"});
    is_over_ = true;
    const core::Time over = now_ + std::chrono::seconds{6};
    for (int steps = 0; engine_.timer() <= over; ++steps) {
      must(steps < 5'000, "a client without servers does little");
      ++Work::so_far().timers;
      now_ = std::max(now_, engine_.timer());
      engine_.on_time(now_);
      settle();
    }
    must(engine_.active() == 0, "every operation ends");
    must(engine_.has_left_lines(), "every call leaves its line");
    must(calls_.empty(), "every call ends");
    must(observer_.standing() == 0, "the end of every call in line is reported");
    must(observer_.acquired() == taken_, "every lock that was acquired is reported, and no other one");
    check_memory();
    (Work::so_far() - at_first_).must_be_within(most_at_all + bytes_ * most_for_a_byte, Work::During::life);
  }

 private:
  using Bytes = std::basic_string<char, std::char_traits<char>, Uncounted<char>>;
  struct Connection {
    std::optional<redlock::detail::Reader> reader;
    std::deque<Bytes, Uncounted<Bytes>> asked;  // commands without a reply
    bool is_open = false;
  };

  void check_memory() const {
    const std::size_t used_up = bytes_ - choices_.left();
    must(memory_.peak() <= most_memory + most_memory_for_a_byte * used_up, "a client uses little memory");
  }
  [[nodiscard]] bool is_guarded() const noexcept { return (options_ & 1) != 0; }
  [[nodiscard]] bool is_fenced() const noexcept { return (options_ & 2) != 0; }
  [[nodiscard]] bool is_fair() const noexcept { return (options_ & 4) != 0; }
  [[nodiscard]] std::string key() const { return (options_ & 8) != 0 ? "app:{17}" : "key"; }

  [[nodiscard]] static std::vector<core::Session::Settings> settings() {
    std::vector<core::Session::Settings> all;
    for (std::size_t node = 0; node < nodes; ++node)
      all.push_back({.name = "node " + std::to_string(node),
                     .login = {.turn_channel = core::turn_channel("0123456789abcdef")},
                     .connect_timeout = std::chrono::milliseconds{500},
                     .silence = std::chrono::milliseconds{200},
                     .seed = node});
    return all;
  }
  [[nodiscard]] std::optional<core::RestartGuard::Settings> guard() const {
    if (!is_guarded()) return std::nullopt;
    return core::RestartGuard::Settings{.nodes = nodes,
                                        .max_ttl = std::chrono::seconds{10},
                                        .discovery_time = std::chrono::milliseconds{500},
                                        .strict = (options_ & 16) != 0};
  }

  // ── callers ──────────────────────────────────────────────────────────────────────────────────────────────

  void submit(const core::Ref<core::Operation>& operation) { engine_.submit(operation, now_); }

  void call() {
    if (calls_.size() >= 4) return;
    const std::size_t kind = choices_.next();
    const bool waits = (kind & 1) != 0;
    core::Claim claim{.key = key(),
                      .owner = {},
                      .ttl = std::chrono::milliseconds{100 + 100 * (kind & 14)},
                      .drift = std::chrono::milliseconds{2},
                      .node_timeout = std::chrono::milliseconds{50}};
    if (is_fenced()) claim.fence = core::Fence{.counter_key = core::counter_key(claim.key)};
    claim.heeds_flag = is_fair();
    if (is_guarded()) claim.marker_keys = engine_.marker_keys();
    std::string digits(40, '0');
    digits[5] = core::lower_hex[++drawn_ % 16];
    digits[4] = core::lower_hex[drawn_ / 16 % 16];
    core::Ref<core::Pursuit> pursuit{new core::Pursuit{
        {.claim = std::move(claim),
         .attempts = waits ? core::Pursuit::Attempts::until_time : core::Pursuit::Attempts::one,
         .give_up_at = waits ? now_ + std::chrono::milliseconds{20 * (kind >> 4)} : core::never,
         .is_fair = is_fair(),
         .owner_values = {std::move(digits), "fuzzed"},
         .time_of_day = std::chrono::seconds{1'790'000'000},
         .seed = drawn_},
        nodes}};
    calls_.push_back(pursuit);
    begun_.push_back(now_step_);
    submit(core::Ref<core::Operation>{pursuit.get()});
  }
  void inspect() {
    std::erase_if(inspections_, [](const auto& inspection) { return inspection->done(); });
    if (inspections_.size() >= 4) return;
    inspections_.emplace_back(new core::Inspection{key(), nodes, std::chrono::milliseconds{50}});
    submit(inspections_.back());
  }
  void cancel_a_call() {
    if (calls_.empty()) return;
    core::Pursuit* const call = calls_[choices_.below(calls_.size())].get();
    if (!call->done()) engine_.abandon(core::Ref<core::Operation>{call}, Errc::cancelled, now_);
  }
  void use_a_lease() {
    const std::size_t choice = choices_.next();
    if (leases_.empty()) return;
    const std::shared_ptr<core::LeaseState> lease = leases_[choice / 4 % leases_.size()];
    switch (choice % 4) {
      case 0:
        std::erase(leases_, lease);
        return submit(core::Ref<core::Operation>{new core::ReleaseOperation{lease, nodes}});
      case 1:
        return submit(core::Ref<core::Operation>{new core::Extension{lease, nodes}});
      case 2:
        return engine_.keep(lease, now_);
      default:
        return engine_.watch(lease, now_);
    }
  }

  /// Takes what has ended, and does what the sessions require.
  void settle() {
    take_grants();
    engine_.finished().clear();
    std::erase_if(leases_, [this](const auto& lease) { return !lease->in_force(now_); });
    for (int rounds = 0; flush(); ++rounds) must(rounds < 100, "connections settle");
    while (const auto warning = engine_.take_warning())
      must(is_printable(*warning), "a warning is printable");
  }
  void take_grants() {
    for (std::size_t at = 0; at < calls_.size();) {
      if (!calls_[at]->done()) {
        ++at;
        continue;
      }
      if (core::Acquisition* const granted = calls_[at]->granted()) take(*granted, begun_[at]);
      calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(at));
      begun_.erase(begun_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  void take(core::Acquisition& granted, std::uint64_t since) {
    const auto said_yes = std::count_if(said_yes_at_.begin(), said_yes_at_.end(),
                                        [&](std::uint64_t at) { return at >= since; });
    ++taken_;
    must(said_yes >= static_cast<std::ptrdiff_t>(core::quorum(nodes)), "only a majority grants a lock");
    const core::Time deadline = granted.valid_until();
    core::Claim claim = granted.take_claim();
    must(is_fenced() == (claim.token > 0) && claim.token < std::uint64_t{1} << 53, "a token is exact");
    must(deadline <= now_ + claim.ttl, "no lease is longer than its ttl");
    auto lease = std::make_shared<core::LeaseState>(std::move(claim), deadline);
    lease->held_leases = engine_.held_leases();
    if (leases_.size() < 4 && lease->in_force(now_)) return leases_.push_back(std::move(lease));
    submit(core::Ref<core::Operation>{new core::ReleaseOperation{lease, nodes}});
  }

  // ── the clock ────────────────────────────────────────────────────────────────────────────────────────────

  void pass_time() {
    constexpr std::array<int, 8> spans{0, 1, 5, 50, 75, 500, 1125, 4000};
    now_ += std::chrono::milliseconds{spans.at(choices_.below(spans.size()))};
    for (int rounds = 0; engine_.timer() <= now_; ++rounds) {
      must(rounds < 50, "a timer that is due is not due again at once");
      ++Work::so_far().timers;
      engine_.on_time(now_);
      settle();
    }
  }

  // ── servers ──────────────────────────────────────────────────────────────────────────────────────────────

  /// Well-behaved servers answer up to eight commands of one connection or of all.
  void answer_all_of_a_kind() {
    const std::size_t choice = choices_.next();
    const bool everywhere = (choice & 1) != 0;
    const bool agrees = (choice & 16) == 0;
    for (std::size_t line = 0; line < connections_.size(); ++line)
      for (std::size_t count = 0; count <= (choice >> 5); ++count)
        if ((everywhere || line == choice / 2 % (2 * nodes)) && !connections_[line].asked.empty())
          answer(line, answer_of_server(line, agrees));
  }
  [[nodiscard]] core::Reply answer_of_server(std::size_t line, bool agrees) {
    const UncountedWork here;
    return servers_[line % nodes].answer(first_asked(line), agrees, now_);
  }
  [[nodiscard]] std::vector<std::string> first_asked(std::size_t line) const {
    std::string_view bytes{connections_[line].asked.front()};
    std::vector<std::string_view> words;
    core::take_command(bytes, words);
    return {words.begin(), words.end()};
  }
  void answer(std::size_t line, const core::Reply& reply) {
    Connection& connection = connections_[line];
    if (!connection.is_open || engine_.session(line).has_errand()) return;
    if (!connection.asked.empty()) connection.asked.pop_front();
    const bool is_yes =
        reply.is(core::Reply::Kind::status) || (reply.is(core::Reply::Kind::integer) && reply.integer > 0);
    if (is_yes && line < nodes) said_yes_at_[line] = now_step_;
    ++replies_;
    engine_.answered(line, reply, now_);
    settle();
  }
  void send_raw(std::size_t line, std::string_view bytes) {
    Connection& connection = connections_[line];
    if (!connection.is_open) return;
    connection.reader->feed(bytes.data(), bytes.size());
    while (connection.is_open) {
      const core::Reply* const reply = connection.reader->next();
      if (!reply) break;
      answer(line, core::Reply{*reply});
    }
    if (connection.is_open && connection.reader->error())
      lose(line, {NodeStatus::protocol_error, connection.reader->error()});
  }
  void push(std::size_t line) { answer(line, server_message(choices_.next(), key(), "0123456789abcdef")); }

  void lose(std::size_t line, core::Trouble trouble) {
    Connection& connection = connections_[line];
    if (!connection.is_open || engine_.session(line).has_errand()) return;
    close(connection);
    engine_.disconnected(line, std::move(trouble), now_);
    settle();
  }
  static void close(Connection& connection) {
    connection.is_open = false;
    connection.asked.clear();
    connection.reader.emplace();
  }
  /// Returns true if there may be more to do.
  bool flush() {
    bool is_changed = false;
    for (std::size_t line = 0; line < connections_.size(); ++line) {
      core::Session& session = engine_.session(line);
      Connection& connection = connections_[line];
      while (session.has_errand()) {
        is_changed = true;
        if (session.take_closing()) close(connection);
        if (session.take_dial()) dial(line);
      }
      Work::so_far().sent += session.unsent().size();
      take_commands(session.unsent(), connection);
      session.sent(session.unsent().size());
      must(connection.asked.size() < 100 + 20 * now_step_, "each call sends a bounded number of commands");
    }
    return is_changed;
  }
  static void take_commands(std::string_view bytes, Connection& connection) {
    const UncountedWork here;
    std::vector<std::string_view> words;
    while (!bytes.empty()) {
      const std::string_view from = bytes;
      core::take_command(bytes, words);
      connection.asked.emplace_back(from.substr(0, from.size() - bytes.size()));
    }
  }
  void dial(std::size_t line) {
    Connection& connection = connections_[line];
    close(connection);
    if (is_over_) return engine_.disconnected(line, {NodeStatus::unreachable, "refused"}, now_);
    connection.is_open = true;
    engine_.connected(line);
  }

  Choices& choices_;
  const LiveMemory memory_;
  const Work at_first_{Work::so_far()};
  const std::size_t bytes_;  // that there were to choose from
  const std::size_t options_;
  CheckingObserver<nodes> observer_{key()};
  core::Engine engine_;
  std::array<FuzzedServer, nodes> servers_{FuzzedServer{0}, FuzzedServer{1}, FuzzedServer{2}};
  std::array<Connection, 2 * nodes> connections_;
  std::vector<core::Ref<core::Pursuit>> calls_;
  std::vector<std::uint64_t> begun_;  // in which step each of them began
  std::vector<core::Ref<core::Operation>> inspections_;
  std::vector<std::shared_ptr<core::LeaseState>> leases_;
  std::array<std::uint64_t, nodes> said_yes_at_{};
  core::Time now_{std::chrono::hours{1}};
  std::uint64_t now_step_ = 1;
  std::size_t replies_ = 0;  // to the client, in this step
  std::size_t drawn_ = 0;
  std::size_t taken_ = 0;  // locks
  bool is_over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(odd_reply(0));  // makes all of them
  Choices choices{{reinterpret_cast<const char*>(data), size}};
  FuzzedClient client{choices};
  while (!choices.empty()) client.step();
  client.end();
  return 0;
}
