// Finds the locks on the nodes, and reads their copies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/node_report.hpp"
#include "tool/nodes.hpp"
#include "tool/probe/dialogue.hpp"

namespace redlock::tool {

/// A resource, and what each node says about it, in the order of the nodes, but not who stands in line.
struct FoundLock {
  std::string resource;
  std::vector<NodeReport> nodes;
  bool has_line = false;  ///< Others stand in line for it, as far as the nodes tell.
};

/// Finds all locks whose resources begin with a certain text.
///
/// Goes through the keys of all nodes in turn with SCAN, in steps that look at about 250 keys, and reads the values, the ttls
/// and the counters of these keys on all nodes. No command looks at more keys. Of what was found, only the names are kept in
/// memory, so that no lock is found twice. Only keys with owner values of this library count as locks: 40 hex digits, with or
/// without more behind a blank.
///
/// One node cannot hide the locks of the others, nor go on for ever: it is given up if it names 10,000 locks that no other node
/// has, or if its keys do not end in the time, at least 10 s, that those nodes took which together show each lock.
///
/// The list is no snapshot: a lock that was taken or released meanwhile may be missing.
class LockReader {
 public:
  /// Connects to all nodes at the same time, which blocks for some seconds if any of them does not answer. Throws
  /// `std::system_error` if there are no threads.
  explicit LockReader(const Nodes&);

  using Found = std::function<bool(std::vector<FoundLock>)>;

  /// Passes the locks on in portions, each sorted by resource, until `found` returns false.
  void find(const std::string& resource_prefix, const Found& found);

  /// What was wrong with each node, one message for each node that did not answer to the end.
  [[nodiscard]] std::vector<std::string> failures() const;
  /// How many nodes refused because of the user, the password or a missing permission.
  [[nodiscard]] std::size_t misconfigured() const;
  /// How many nodes answered to the end.
  [[nodiscard]] std::size_t answering() const;

 private:
  struct Node {
    std::string name;
    std::unique_ptr<Dialogue> dialogue;  // null after a failure
    core::Trouble failure;
    std::string cursor = "0";
    bool is_scanned = false;  // all its locks have been passed on
    int steps_without_keys = 0;
    std::size_t found_alone = 0;  // locks that no other node has
  };

  bool scan(Node&, const std::string& pattern, const Found&);
  bool pass_on(std::vector<std::string> keys, Node& from, const Found&);
  std::vector<FoundLock> read(const std::vector<std::string>& keys);
  void look_for_lines(std::vector<FoundLock>&);
  static void give_up(Node&, core::Trouble why);
  static void send(Node&, const std::string& commands);
  static std::vector<core::Reply> receive(Node&, std::size_t number);

  std::string key_prefix_;
  std::vector<Node> nodes_;
  std::unordered_set<std::string> passed_on_;  // resources
};

}  // namespace redlock::tool
