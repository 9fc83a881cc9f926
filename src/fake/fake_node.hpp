// A Redis server in memory, as far as clients of locks need one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/reply.hpp"

namespace redlock::inline v1::detail {

/// Keys with their ttls, and the commands and scripts that a client without a restart guard sends. The scripts are
/// those of `core/wire/scripts.hpp` and `core/wire/shared_scripts.hpp`, written in C++: change both together. Not thread safe.
class FakeNode {
 public:
  using Words = std::vector<std::string>;
  struct Now {
    core::Time time;                 // ttls run by it
    std::chrono::microseconds wall;  // what TIME returns
  };

  /// `run_id`: differs between nodes.
  explicit FakeNode(std::string run_id) : run_id_{std::move(run_id)} {}

  core::Reply execute(const Words& command, Now now);

  void set(const std::string& key, std::string value, core::Time expires) {
    keys_[key] = {std::move(value), expires};
  }
  bool remove(const std::string& key) { return keys_.erase(key) > 0; }

 private:
  struct Entry {
    std::string value;
    core::Time expires = core::never;
  };
  struct Line {
    struct Place {
      core::Time called_at;
      core::Time alive_until;
    };
    std::string name;
    std::string alive_key;
    std::map<std::string, Place> members;
  };
  struct Call {  // of a script
    Words keys;
    Words values;
    Now now;
  };

  Entry* find(const std::string& key, core::Time now);
  core::Reply evaluate(const Words& command, Now now);
  core::Reply grant(const Call&);
  core::Reply confirm(const Call&);
  core::Reply put_back(const Call&);
  core::Reply swap(const Call&);
  core::Reply extend(const Call&);
  core::Reply release(const Call&);
  core::Reply line(const Call&);
  core::Reply seats(const Call&);
  core::Reply ask(const Call&);
  void ask(const Call&, const std::string& key, const std::string& id);
  // of shared locks
  core::Reply shared_grant(const Call&);
  core::Reply shared_extend(const Call&);
  core::Reply shared_put_back(const Call&);
  core::Reply shared_release(const Call&);
  core::Reply break_lock(const Call&);
  core::Reply readable(const Call&);
  core::Reply readers(const Call&);
  core::Reply reader(const Call&);
  void open(const Call&);
  void join(const Call&);
  [[nodiscard]] bool has_copy(const Call&);
  [[nodiscard]] core::Reply members(const std::string& key, std::size_t last, Now) const;
  [[nodiscard]] core::Reply denial(const Call&);
  [[nodiscard]] std::string value(const Call&, std::size_t key);
  [[nodiscard]] long long counter(const Call&);
  void keep_counter(const Call&, std::string_view milliseconds);
  [[nodiscard]] static long long granted(long long counter, long long proposal, Now);
  [[nodiscard]] static std::optional<long long> raised(long long counter, long long proposal, Now);
  [[nodiscard]] long long pttl(const std::string& key, core::Time now);
  void prolong(const std::string& key, std::string_view milliseconds, core::Time now);
  void set_for(const std::string& key, std::string value, std::string_view milliseconds, core::Time now);

  std::string run_id_;
  std::map<std::string, Entry> keys_;
  std::map<std::string, Line> lines_;                  // by the key of their order
  std::map<std::string, std::set<std::string>> sets_;  // ids of readers; they do not expire
};

}  // namespace redlock::inline v1::detail
