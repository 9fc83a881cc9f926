// The line of those who wait for a lock, as the servers store it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/line/line_messages.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::testing {

/// The line of one lock. It stands at one node, the *gate*; after a failure parts of it may be at several nodes.
class WaitingLine {
 public:
  WaitingLine(const LocalNodes& nodes, std::string resource)
      : keys_{resource}, resource_{std::move(resource)} {
    for (int node = 0; node < nodes.size(); ++node) servers_.emplace_back(nodes.port(node));
  }

  /// To be called before a node hangs or dies: it is not asked from then on.
  void leave_out(int node) { left_out_.push_back(node); }

  [[nodiscard]] int length() { return length_at(gate()); }
  /// Of the part of the line at this node.
  [[nodiscard]] int length_at(int node) { return std::stoi(at(node).command({"ZCARD", keys_.order})); }
  /// The node with the longest part of the line.
  [[nodiscard]] int gate() {
    int best = -1;
    for (int node = 0; node < static_cast<int>(servers_.size()); ++node)
      if (is_asked(node) && (best < 0 || length_at(node) > length_at(best))) best = node;
    return best;
  }
  /// Until when a member counts as alive that looks now: microseconds of the gate's clock.
  [[nodiscard]] std::string life_of_a_look() {
    return at(gate()).command({"EVAL", "local t=redis.call('TIME') return t[1]*1000000+t[2]+4000000", "0"});
  }
  /// How many members have looked at the gate since then.
  [[nodiscard]] int looked_since(const std::string& life) {
    return std::stoi(at(gate()).command({"ZCOUNT", keys_.alive, life, "+inf"}));
  }
  /// Waits until all members have read their places. A member that acts as the first one does so until then: only its
  /// second look shows that it has read the answer to the first.
  [[nodiscard]] bool wait_until_all_know_their_places(int members) {
    for (int look = 0; look < 2; ++look) {
      const std::string life = life_of_a_look();
      if (!eventually([&] { return looked_since(life) >= members; })) return false;
    }
    return true;
  }
  /// The place of the member with these words in its name, from 0 on; none if it does not stand there.
  [[nodiscard]] std::optional<int> place_of(std::string_view words) {
    RawClient& server = at(gate());
    for (int place = 0;; ++place) {
      const std::string text = std::to_string(place);
      const std::string member = server.command({"ZRANGE", keys_.order, text, text});
      if (member == "[]") return std::nullopt;
      if (member.find(words) != std::string::npos) return place;
    }
  }
  /// Number of nodes on which newcomers are told that somebody stands in line.
  [[nodiscard]] int flags() {
    int sum = 0;
    for (int node = 0; node < static_cast<int>(servers_.size()); ++node)
      sum += is_asked(node) && at(node).command({"EXISTS", keys_.flag}) == "1" ? 1 : 0;
    return sum;
  }
  /// All keys that the line has on the nodes.
  [[nodiscard]] std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (int node = 0; node < static_cast<int>(servers_.size()); ++node) {
      if (!is_asked(node)) continue;
      for (std::string& key : at(node).keys("redlock:q*"))
        if (key != "redlock:quarantine") all.push_back(std::move(key));
    }
    return all;
  }

  /// Sets the lock's key on all nodes, as another program that knows nothing of lines.
  void take(std::string_view owner) {
    for (RawClient& server : servers_) server.command({"SET", resource_, std::string{owner}});
  }
  /// Deletes the copies of the owner who has most of them. The next one may get the lock meanwhile, and keeps its copies.
  void free() {
    std::map<std::string, int> copies;
    for (RawClient& server : servers_) ++copies[owner_at(server)];
    copies.erase("");
    if (copies.empty()) return;
    const auto most = std::max_element(copies.begin(), copies.end(), [](const auto& one, const auto& other) {
      return one.second < other.second;
    });
    for (RawClient& server : servers_)
      if (owner_at(server) == most->first) server.del(resource_);
  }

 private:
  /// Empty if the key does not exist.
  [[nodiscard]] std::string owner_at(RawClient& server) const {
    return server.command({"GETRANGE", resource_, "0", "-1"});
  }
  [[nodiscard]] RawClient& at(int node) { return servers_.at(static_cast<std::size_t>(node)); }
  [[nodiscard]] bool is_asked(int node) const {
    return std::find(left_out_.begin(), left_out_.end(), node) == left_out_.end();
  }

  core::LineKeys keys_;
  std::string resource_;
  std::vector<RawClient> servers_;
  std::vector<int> left_out_;
};

}  // namespace redlock::testing
