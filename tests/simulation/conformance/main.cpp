// redlock-conformance: sends random commands and scripts to the simulated server and to a real one, and compares the replies.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "simulation/conformance/listener.hpp"
#include "simulation/conformance/operation.hpp"
#include "simulation/conformance/reply_comparison.hpp"
#include "simulation/conformance/server.hpp"
#include "simulation/server/flaw.hpp"
#include "simulation/server/readable.hpp"
#include "simulation/server/server.hpp"

namespace {

using namespace redlock::simulation;

struct Options {
  std::size_t operations = 100'000;
  std::uint64_t seed = 1;
  std::string server;
  Flaw flaw = Flaw::none;
  std::string flaw_name;
};

std::int64_t microseconds(const Reply& time) {
  return std::stoll(time.elements.at(0).text) * 1'000'000 + std::stoll(time.elements.at(1).text);
}

class Comparison {
 public:
  explicit Comparison(const Options& options)
      : real_{options.server},
        interpreter_{options.flaw},
        ours_{interpreter_, "simulated"},
        compares_texts_{real_.is_redis_7_0()},
        replies_{ours_, compares_texts_},
        listener_{real_, ours_, replies_},
        operations_{options.seed, clock(), compares_texts_} {}

  /// Runs and compares up to about 200 operations. Returns the first difference, or an empty string.
  std::string go_on(std::size_t most) {
    std::string difference = listener_.unsubscribe(clock());
    draw_mode();
    draw_acl();
    if (difference.empty()) difference = listener_.speak(operations_.random(), clock());
    std::vector<Operation> batch;
    while (batch.size() < std::min<std::size_t>(most, 200)) batch.push_back(operations_.next());
    for (Operation& operation : operations_.fleeting()) batch.push_back(std::move(operation));
    if (difference.empty()) difference = compare(batch);
    if (difference.empty()) difference = listener_.listen();
    outlive_fleeting();
    return difference;
  }

  [[nodiscard]] std::size_t done() const noexcept { return done_; }
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
  [[nodiscard]] bool compares_texts() const noexcept { return compares_texts_; }

 private:
  std::int64_t clock() { return microseconds(real_.connection().ask({"TIME"})); }

  void draw_mode() {
    const std::size_t drawn = operations_.random().below(10);
    const auto mode = drawn == 0   ? Server::Mode::out_of_memory
                      : drawn == 1 ? Server::Mode::read_only
                                   : Server::Mode::serving;
    real_.set_mode(mode);
    ours_.set_mode(mode);
  }

  void draw_acl() {
    Acl acl;
    switch (operations_.random().below(10)) {
      case 0:
        acl.forbidden = {"publish"};
        break;
      case 1:
        acl.forbidden = {"subscribe", "zadd"};
        break;
      case 2:
        acl.channels = "redlock:";
        break;
      default:
        break;
    }
    real_.set_acl(acl);
    ours_.set_acl(acl);
  }

  std::string compare(const std::vector<Operation>& batch) {
    std::vector<std::vector<std::string>> commands;
    for (const Operation& operation : batch) {
      commands.push_back({"TIME"});
      commands.push_back(operation.words);
      for (const std::string& key : operation.timed) commands.push_back(scores_of(key));
      for (const std::string& key : operation.expiring) commands.push_back({"PEXPIRETIME", key});
    }
    commands.push_back({"TIME"});
    const std::vector<Reply> replies = real_.connection().ask(commands);
    std::size_t at = 0;
    for (const Operation& operation : batch) {
      const std::size_t next = at + 2 + operation.timed.size() + operation.expiring.size();
      const auto reply = replies.begin() + static_cast<std::ptrdiff_t>(at) + 1;
      const auto expiries = reply + 1 + static_cast<std::ptrdiff_t>(operation.timed.size());
      const Observation real{microseconds(replies[at]),
                             microseconds(replies[next]),
                             *reply,
                             {reply + 1, expiries},
                             {expiries, replies.begin() + static_cast<std::ptrdiff_t>(next)}};
      ++done_;
      errors_ += real.reply.is(Reply::Kind::error) ? 1 : 0;
      const std::string difference = replies_.differs(operation, real);
      if (!difference.empty()) return readable(operation.words) + "\n" + difference;
      at = next;
    }
    return {};
  }

  void outlive_fleeting() {
    constexpr std::int64_t longest_us = 4'000;
    const std::int64_t end = clock() + longest_us;
    do std::this_thread::sleep_for(std::chrono::microseconds{longest_us});
    while (clock() <= end);
  }

  RealServer real_;
  Interpreter interpreter_;
  Server ours_;
  bool compares_texts_;
  ReplyComparison replies_;
  Listener listener_;
  Operations operations_;
  std::size_t done_ = 0;
  std::size_t errors_ = 0;
};

std::string command_of(const Options& options) {
  std::string line = "redlock-conformance --seed " + std::to_string(options.seed) + " --operations " +
                     std::to_string(options.operations);
  if (!options.server.empty()) line += " --server " + options.server;
  if (options.flaw != Flaw::none) line += " --break " + options.flaw_name;
  return line;
}

int run(const Options& options) {
  Comparison comparison{options};
  while (comparison.done() < options.operations) {
    const std::string difference = comparison.go_on(options.operations - comparison.done());
    if (difference.empty()) continue;
    std::cout << "Operation " << comparison.done() << " differs, seed " << options.seed << ":\n"
              << difference << "To repeat: " << command_of(options) << '\n';
    return 1;
  }
  std::cout << comparison.done() << " operations without a difference, seed " << options.seed << "; "
            << comparison.errors() << " of them were answered with errors, compared by "
            << (comparison.compares_texts() ? "text" : "code") << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Compares the simulated Redis server with a real one, reply by reply", "redlock-conformance"};
  Options options;
  std::map<std::string, Flaw> flaws;
  for (const auto& [name, flaw] : flaw_names) flaws.emplace(name, flaw);
  app.add_option("--operations", options.operations, "at least this many operations (default 100000)");
  app.add_option("--seed", options.seed, "seed of the operations (default 1)");
  app.add_option("--server", options.server, "program of the real server (default: the one the tests use)");
  app.add_option("--break", options.flaw_name, "add a flaw to the simulated server, which must be found")
      ->check(CLI::IsMember(flaws));
  CLI11_PARSE(app, argc, argv);
  if (!options.flaw_name.empty()) options.flaw = flaws.at(options.flaw_name);
  return run(options);
} catch (const std::exception& error) {
  std::cerr << "redlock-conformance: " << error.what() << '\n';
  return 2;
}
