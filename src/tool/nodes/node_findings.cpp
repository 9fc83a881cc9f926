#include "tool/nodes/node_findings.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "redlock/core/base/printable.hpp"
#include "redlock/status.hpp"
#include "tool/lock_state.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using core::printable;

/// By how much clocks may run at different rates: what validity leaves out of the ttl.
constexpr double rate_allowance = 0.01;

std::string remedy(const NodeReport& report) {
  if (report.message.find("TLS at this port") != std::string::npos)
    return "If the port speaks TLS, its address is rediss://, otherwise redis://. If the address is right, "
           "find out why the server does not answer.";
  switch (report.status) {
    case NodeStatus::unreachable:
      return "Start the server, or correct its address.";
    case NodeStatus::timed_out:
    case NodeStatus::connection_lost:
    case NodeStatus::not_awaited:
    case NodeStatus::overloaded:
      return "Find out why the server does not answer: it may be stopped, overloaded or far away.";
    case NodeStatus::loading:
      return "Wait until the server has read its data.";
    case NodeStatus::busy:
      return "Run SCRIPT KILL on the server.";
    case NodeStatus::out_of_memory:
      return "Give the server more memory, and do not allow eviction.";
    case NodeStatus::not_persisting:
      return "Make the server able to save its data.";
    case NodeStatus::protocol_error:
      return "Check that a Redis server listens at this address.";
    case NodeStatus::auth_required:
      return "Add the password to the list of nodes.";
    case NodeStatus::wrong_password:
      return "Correct the user and the password in the list of nodes.";
    case NodeStatus::no_permission:
      return "Give the user the rights that redlock acl prints; those to keys depend on --key-prefix.";
    case NodeStatus::read_only:
    case NodeStatus::replica:
      return "List independent masters only.";
    case NodeStatus::same_node:
      return "List each server once.";
    case NodeStatus::tls_failed:
      return "Fix the server's certificate, or the options --cacert, --cert and --key.";
    case NodeStatus::other_deployment:
      return "Configure all clients alike; docs/safety.md says how to change the nodes. If the marker's key "
             "holds something else, delete it.";
    case NodeStatus::quarantined:
      if (report.votes_in && report.votes_in->count() > 0) return "Wait: it votes again by itself.";
      if (report.message.find("has no ttl") != std::string::npos)
        return "Delete the key of its quarantine when more than max_ttl has passed since the server "
               "restarted or lost its data.";
      return "Run redlock nodes --wait: the time after which it votes again begins when a client asks for a "
             "lock.";
    default:
      return "Read what the server says; docs/errors.md explains it.";
  }
}

/// For which features `redlock acl` prints the rights.
std::string_view features_for(Use use) {
  switch (use) {
    case Use::noticing:
    case Use::asking:
      return "renewed";
    case Use::lining:
      return "waiting";
    case Use::sharing:
      return "shared";
    default:
      return "plain, fenced and renewed";
  }
}

class Examination {
 public:
  Examination(const NodeView& node, const Survey& all, std::vector<Finding>& to)
      : node_{node}, facts_{node.facts}, all_{all}, to_{to} {}

  void vote() {
    const std::string missing = node_.missing(Use::locking);
    if (!missing.empty())
      return add(Severity::degraded, "missing_rights", "its user may not do what locks need: " + missing,
                 remedy_of(Use::locking, missing));
    if (has_voted(node_.report)) return;
    const std::string details = printable(node_.report.message);
    add(Severity::degraded, "not_voting",
        "does not vote: " + std::string{to_string(node_.report.status)} +
            (details.empty() ? "" : " (" + details + ")"),
        remedy(node_.report));
  }

  void notices() {
    if (facts_.tracks == false)
      add(Severity::degraded, "no_tracking", "the server cannot report deleted locks, so holders notice late",
          "Use Redis 6 or later, or Valkey.");
    lacks(Use::noticing, Severity::degraded, "no_tracking",
          "its user may not listen to deleted locks, so holders notice after up to a tenth of the ttl");
    lacks(Use::lining, Severity::degraded, "no_line",
          "its user may not do what the waiting line needs, so waiting calls may get the lock in any order");
    lacks(Use::sharing, Severity::note, "no_sharing", "its user may not take shared locks");
    lacks(Use::asking, Severity::note, "no_requests",
          "its user may neither ask holders to give up their locks, nor be asked");
    lacks(Use::naming, Severity::note, "no_name",
          "its user may not name its connections, so the server's ACL LOG has an entry for each");
  }

  void memory() {
    const std::string policy = printable(facts_.eviction_policy.value_or("noeviction"), 40);
    const bool is_limited = facts_.memory_limit.value_or(1) > 0;
    if (policy != "noeviction")
      add(is_limited ? Severity::unsafe : Severity::degraded, "eviction",
          std::string{is_limited ? "deletes" : "would delete"} +
              " keys when its memory is full (maxmemory-policy " + policy + "), also those of locks",
          "Set maxmemory-policy to noeviction, with CONFIG SET and in the server's configuration.");
    const std::uint64_t limit = facts_.memory_limit.value_or(0);
    if (limit > 0 && facts_.memory_used && *facts_.memory_used >= limit / 10 * 9)
      add(Severity::degraded, "memory", "less than a tenth of its memory is left",
          "Raise maxmemory, or remove data. A full server refuses locks.");
  }

  void durability() {
    if (!all_.options.durable_nodes || !facts_.appends) return;
    const std::string why = !*facts_.appends ? "it writes no append-only file"
                            : facts_.appendfsync.value_or("always") == "always"
                                ? ""
                                : "appendfsync is " + printable(*facts_.appendfsync, 40);
    if (!why.empty())
      add(Severity::unsafe, "not_durable",
          "is declared to lose nothing when it restarts (durable_nodes), but " + why,
          "Set appendonly yes and appendfsync always on the server, or take durable_nodes back.");
  }

  void certificates() {
    certificate(facts_.certificate_end, "certificate", "its certificate",
                "Give the server a new certificate. Without a valid one, no client connects to it.");
    certificate(
        facts_.own_certificate_end, "client_certificate", "the client's certificate for it",
        "Replace the files of --cert and --key. A server that asks for a certificate refuses one that has "
        "ended.");
  }

  void mode() {
    if (facts_.mode == "cluster")
      add(Severity::unsafe, "cluster",
          "belongs to a Redis Cluster, which copies locks late and fails over by itself",
          "Use independent servers.");
  }

  void clock() {
    if (!facts_.clock) return;
    const auto& [offset, offset_uncertainty, rate, uncertainty] = *facts_.clock;
    const bool is_fast = rate > 0;
    if ((is_fast ? rate : -rate) - uncertainty <= rate_allowance) return;
    std::array<char, 32> percent{};
    std::snprintf(percent.data(), percent.size(), "%.1f %%", 100 * (is_fast ? rate : -rate));
    add(is_fast ? Severity::unsafe : Severity::degraded, "clock_rate",
        "its clock runs " + std::string{percent.data()} + (is_fast ? " faster" : " slower") +
            " than this machine's, or was set just now; locks allow for 1 %" +
            (is_fast ? ", so they may end early" : ""),
        "Run this again. If it stays so, fix the clock: let NTP slew it, and not step it.");
  }

  void speed() {
    if (!facts_.round_trip || !has_voted(node_.report) || 2 * *facts_.round_trip <= all_.node_timeout())
      return;
    add(Severity::degraded, "slow",
        "answers after " + readable(*facts_.round_trip) + ", and clients wait for " +
            readable(all_.node_timeout()),
        "Use a nearer or less busy server, or a longer Options::node_timeout.");
  }

 private:
  /// Nobody needs the rights to a made-up lock.
  [[nodiscard]] std::string remedy_of(Use use, const std::string& missing) const {
    if (!all_.is_resource_made_up)
      return "Run on the server, with the name of the user: ACL SETUSER NAME " + missing;
    return "Run on the server what redlock acl prints with " + std::string{features_for(use)} +
           " in its --for" + (all_.options.key_prefix.empty() ? "." : ", and with the same --key-prefix.");
  }
  /// Adds the finding if the user lacks rights for this use.
  void lacks(Use use, Severity severity, std::string id, std::string text) {
    if (const std::string missing = node_.missing(use); !missing.empty())
      add(severity, std::move(id), std::move(text), remedy_of(use, missing));
  }
  void certificate(std::optional<std::chrono::sys_seconds> end, const std::string& id,
                   const std::string& what, const std::string& advice) {
    if (!end) return;
    // In seconds: nanoseconds of a certificate that ends after 2262 would overflow.
    const auto left = *end - std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto days = std::chrono::floor<std::chrono::days>(left);
    if (days >= std::chrono::days{30}) return;
    add(Severity::degraded, id,
        what + (left < left.zero() ? " has ended"
                                   : " ends in less than " + std::to_string(days.count() + 1) + " days"),
        advice);
  }
  void add(Severity severity, std::string id, std::string text, std::string advice) {
    to_.push_back({severity, std::move(id), node_.report.node, std::move(text), std::move(advice)});
  }

  const NodeView& node_;
  const NodeFacts& facts_;
  const Survey& all_;
  std::vector<Finding>& to_;
};

}  // namespace

void examine(const NodeView& node, const Survey& all, std::vector<Finding>& to) {
  Examination examination{node, all, to};
  examination.vote();
  examination.notices();
  examination.memory();
  examination.durability();
  examination.certificates();
  examination.mode();
  examination.clock();
  examination.speed();
}

}  // namespace redlock::tool
