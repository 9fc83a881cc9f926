// Finds the locks on the nodes, and reads their copies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
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
/// Goes through the keys of one node after the other with SCAN, in steps that look at about 250 keys, and reads the values,
/// the ttls and the counters of these keys on all nodes. No command looks at more keys, and only one step is kept in
/// memory. A lock is found on the first node that has it, so it is not found twice on several nodes. Only keys with owner
/// values of this library count as locks: 40 hex digits, with or without more behind a blank.
///
/// The list is no snapshot: a lock that was taken or released meanwhile may be missing, and one may be found twice if a
/// node resized its table of keys or failed meanwhile.
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
    bool is_scanned = false;  // all its locks have been passed on
  };

  bool scan(Node&, const std::string& pattern, const Found&);
  bool pass_on(std::vector<std::string> keys, const Found&);
  void remove_known(std::vector<std::string>& keys);
  std::vector<FoundLock> read(const std::vector<std::string>& keys);
  void look_for_lines(std::vector<FoundLock>&);
  static void give_up(Node&, core::Trouble why);
  static void send(Node&, const std::string& commands);
  static std::vector<core::Reply> receive(Node&, std::size_t number);

  std::string key_prefix_;
  std::vector<Node> nodes_;
};

}  // namespace redlock::tool
