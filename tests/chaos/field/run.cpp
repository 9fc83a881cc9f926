#include "chaos/field/run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "chaos/field/crew.hpp"
#include "chaos/field/nodes.hpp"
#include "chaos/field/starvation.hpp"
#include "chaos/worker/holder.hpp"
#include "chaos/worker/stores.hpp"
#include "redlock/redlock.hpp"
#include "support/eventually.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

/// The begin or the end of a fault.
struct Action {
  milliseconds at;
  bool begins;
  const Fault* fault;
};
std::vector<Action> actions_of(const Plan& plan) {
  std::vector<Action> actions;
  for (const Fault& fault : plan.faults) {
    actions.push_back({fault.at, true, &fault});
    actions.push_back({fault.at + fault.length, false, &fault});
  }
  std::ranges::stable_sort(actions, {}, &Action::at);
  return actions;
}

CrewOrders orders_of(const RunOptions& options, const Nodes& nodes) {
  CrewOrders orders{.roles = roles(options),
                    .program = options.program,
                    .tool = options.tool,
                    .clock_library = options.clock_library,
                    .folder = options.folder,
                    .is_memory_judged = options.is_memory_judged,
                    .seed = options.seed,
                    .nodes = {nodes.urls(0), nodes.urls(1)}};
  if (options.mutant)
    orders.environment.push_back(mutant_variable + ("=" + std::string{options.mutant->name}));
  if (options.control != Control::none) orders.more.emplace_back("--no-tokens");
  if (options.control == Control::unguarded) orders.more.emplace_back("--no-guard");
  return orders;
}

/// Whether a log says that the client has got a lock since then. Reads only its end.
bool has_held_since(const std::string& path, Instant since) {
  std::ifstream file{path};
  constexpr std::streamoff enough = 16384;
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - enough));
  std::string line;
  if (size > enough) std::getline(file, line);
  while (std::getline(file, line) && !file.eof())
    if (line.find(" hold ") != std::string::npos && std::stoll(line) >= since) return true;
  return false;
}

constexpr int loading_clients = 4;

Plan plan_of(const RunOptions& options, const std::vector<Role>& roles) {
  Shape shape{.seed = options.seed,
              .profile = options.profile,
              .nodes = options.nodes,
              .clients = static_cast<int>(roles.size()),
              .lasting = options.is_full_load ? loading_clients : 0,
              .running = {},
              .length = options.length,
              .haste = options.haste,
              .loses_packets = options.loses_packets,
              .stops_clients = options.control == Control::none,
              .only = options.only};
  for (int client = 0; client < shape.clients; ++client)
    if (roles[static_cast<std::size_t>(client)] == Role::running) shape.running.push_back(client);
  return options.is_about_restarts ? draw_plan_of_restarts(shape) : draw_plan(shape);
}

}  // namespace

std::vector<Role> roles(const RunOptions& options) {
  std::vector<Role> all{Role::plain,   Role::plain,   Role::renewed, Role::fenced,
                        Role::fenced,  Role::waiting, Role::waiting, Role::waiting,
                        Role::giving,  Role::taking,  Role::running, Role::running,
                        Role::reading, Role::reading, Role::reading, Role::reading};
  if (options.control != Control::none)
    for (Role& role : all)
      if (role == Role::plain || role == Role::renewed) role = Role::fenced;
  if (options.is_full_load) all.insert(all.end(), loading_clients, Role::loading);
  return all;
}

namespace {

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_{options},
        roles_{roles(options)},
        plan_{plan_of(options, roles_)},
        nodes_{options.nodes, options.folder, options.clock_library},
        log_{options.folder + "/faults"} {
    if (options.control != Control::unguarded) begin_deployment();
    const SharedStores made{stores()};
    crew_.emplace(orders_of(options, nodes_), group_);
  }

  Outcome run() {
    const Instant begun = now();
    log_.add(Entry::What::begin, 0);
    make_faults();
    Case given;
    given.profile = options_.profile;
    given.most_open = most_open();
    if (is_search()) {
      given.end = now();
      given.calm = given.end;  // lines were never in order
      static_cast<void>(crew_->finish());
    } else {
      heal(given);
    }
    return conclude(std::move(given), begun);
  }

 private:
  [[nodiscard]] bool is_search() const { return options_.control == Control::unguarded || options_.mutant; }
  [[nodiscard]] std::string stores() const { return options_.folder + "/stores"; }

  /// Each client has two connections to each node, some descriptors for its timers and events, its log and the stores. Those
  /// that a node has not closed yet count as well.
  [[nodiscard]] std::uint64_t most_open() const {
    return is_search() ? 0 : static_cast<std::uint64_t>(20 + 4 * options_.nodes);
  }

  /// New nodes vote at once only if all of them are there.
  void begin_deployment() {
    Redlock locks{nodes_.urls(), {.max_ttl = max_ttl}};
    static_cast<void>(locks.lock("till", {.ttl = ttl, .node_wait = 10s}).value());
    nodes_.keep_copies();
  }

  void make_faults() {
    const auto begin = std::chrono::steady_clock::now();
    for (const Action& action : actions_of(plan_)) {
      begin_late_faults(begin + action.at);
      apply(action);
      note_footprints();
      if (const auto failure = crew_->failure()) throw std::runtime_error{*failure};
      if (is_search() && is_found()) return;
    }
    std::this_thread::sleep_until(begin + options_.length);
  }

  /// Once a second.
  void note_footprints() {
    if (!options_.is_full_load || now() - measured_ < simulation::second) return;
    measured_ = now();
    footprints_.resize(roles_.size());
    for (std::size_t client = 0; client < roles_.size(); ++client)
      if (roles_[client] == Role::loading)
        if (const auto seen = footprint_of(crew_->process_of(static_cast<int>(client))))
          footprints_[client].push_back(*seen);
  }

  /// Looks for what a search is for, every few seconds.
  bool is_found() {
    if (now() - looked_ < 5 * simulation::second) return false;
    looked_ = now();
    if (options_.control == Control::unguarded) return SharedStores{stores()}.lost_unfenced() > 0;
    Case given{};
    given.profile = options_.profile;
    given.end = given.calm = looked_;
    add_logs(given);
    return judge(given).violation.has_value();
  }

  void add_logs(Case& given) const {
    for (std::size_t client = 0; client < roles_.size(); ++client) {
      const int number = static_cast<int>(client);
      if (roles_[client] == Role::waiting) given.waiting.push_back(number);
      given.logs.push_back(read_log(crew_->log_of(number), number));
    }
  }

  void apply(const Action& action) {
    try {
      action.begins ? begin(*action.fault) : end(*action.fault);
    } catch (const std::exception& error) {
      troubles_.push_back(describe(*action.fault, options_.nodes) + ": " + error.what());
    }
  }

  void begin(const Fault& fault) {
    if (place_of(fault.kind) != Place::client) {
      note("begin ", fault);
      return nodes_.begin(fault);
    }
    if (!crew_->begin(fault)) return late_.push_back(&fault);
    note("begin ", fault);
    aims_[fault.part].found = true;
  }

  void end(const Fault& fault) {
    if (std::erase(late_, &fault) > 0) {
      ++aims_[fault.part].missed;
      return;
    }
    note("end ", fault);
    place_of(fault.kind) == Place::client ? crew_->end(fault) : nodes_.end(fault);
  }

  /// Waits for this time. Meanwhile, faults that have not found their process look for it again and again: a process of
  /// `redlock run` is not always there.
  void begin_late_faults(std::chrono::steady_clock::time_point until) {
    constexpr auto pause = 50ms;  // because a look reads what there is of all processes of the system
    do {
      const auto now = std::chrono::steady_clock::now();
      if (now >= searched_ + pause) {
        searched_ = now;
        for (const Fault* const fault : std::exchange(late_, {})) apply({fault->at, true, fault});
      }
      std::this_thread::sleep_until(late_.empty() ? until : std::min(until, searched_ + pause));
    } while (std::chrono::steady_clock::now() < until);
  }

  void note(const std::string& what, const Fault& fault) {
    log_.add(Entry::What::fault, static_cast<std::uint64_t>(&fault - plan_.faults.data()),
             what + describe(fault, options_.nodes));
  }

  /// The last faults of the plan are over at its end. Then lines and restart guards recover: a guard waits for the longest
  /// lock, and for a clock that was set back; a line serves all who stand in it, each for its longest hold.
  void heal(Case& given) {
    given.healed = now();
    log_.add(Entry::What::healed, 0);
    const std::ofstream sign{options_.folder + "/healed"};  // clients look whether it is there
    const Starvation starvation;
    const auto bound = 2 * max_ttl + largest_error + 10s + 6 * (ttl * 5 / 2 + ttl);
    static_cast<void>(testing::eventually(
        [&] {
          if (now() - given.healed > (bound + starvation.total()) / 1ns) return true;
          return all_served(given.healed);
        },
        1h));
    // On a busy machine, a call may lose its place until all have been served once.
    given.calm = std::max(now(), given.healed + (max_ttl + largest_error + 3s) / 1ns);
    while (now() < given.calm + 8 * simulation::second) {
      std::this_thread::sleep_for(200ms);
      if (const auto failure = crew_->failure()) throw std::runtime_error{*failure};
    }
    given.end = now();
    if (options_.is_memory_judged) given.footprints = footprints_;
    if (const auto failure = crew_->finish()) throw std::runtime_error{*failure};
    if (const auto report = crew_->sanitizer_report()) throw std::runtime_error{*report};
    static_cast<void>(testing::eventually(
        [&] {
          given.left = nodes_.keys_left();
          return given.left.empty();
        },
        std::chrono::ceil<milliseconds>(4 * max_ttl + largest_error + 10s + starvation.total())));
  }

  [[nodiscard]] bool all_served(Instant since) const {
    for (std::size_t client = 0; client < roles_.size(); ++client)
      if (!has_held_since(crew_->log_of(static_cast<int>(client)), since)) return false;
    return true;
  }

  /// A process of `redlock run` is not always there, but so often that some fault finds it.
  void note_missed_parts() {
    for (const auto& [part, aims] : aims_)
      if (aims.missed >= 10 && !aims.found)
        troubles_.push_back("none of " + std::to_string(aims.missed) + " faults found " +
                            std::string{name_of(part)});
  }

  Outcome conclude(Case given, Instant begun) {
    note_missed_parts();
    Outcome outcome;
    outcome.plan = plan_;
    outcome.begun = begun;
    outcome.ended = now();
    outcome.troubles = troubles_;
    add_logs(given);
    SharedStores stores_at_end{stores()};
    given.lost_fenced = static_cast<std::uint64_t>(stores_at_end.lost_fenced());
    given.lost_unfenced = static_cast<std::uint64_t>(stores_at_end.lost_unfenced());
    given.keeps_deadlines = options_.control == Control::guarded;
    outcome.written_fenced = stores_at_end.written_fenced();
    outcome.written_unfenced = stores_at_end.written_unfenced();
    outcome.faults = read_log(options_.folder + "/faults", -1);
    outcome.verdict = judge(given);
    outcome.logs = std::move(given.logs);
    outcome.footprints = footprints_;
    return outcome;
  }

  const RunOptions& options_;
  const std::vector<Role> roles_;
  const Plan plan_;
  const testing::detail::ProcessGroup group_;  // its processes end with this one
  Nodes nodes_;
  Log log_;
  std::optional<Crew> crew_;
  std::vector<std::string> troubles_;
  struct Aims {
    bool found = false;
    int missed = 0;
  };
  std::map<Part, Aims> aims_;       // whether faults found their processes
  std::vector<const Fault*> late_;  // that look for their processes
  std::chrono::steady_clock::time_point searched_{};
  Instant looked_ = now();
  Instant measured_ = 0;
  std::vector<std::vector<Footprint>> footprints_;  // by client
};

}  // namespace

Outcome run(const RunOptions& options) { return Run{options}.run(); }

}  // namespace redlock::chaos
