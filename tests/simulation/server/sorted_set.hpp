// The value of a key that is a sorted set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

/// Members with their scores, ordered by score, and among equal scores by bytes. Scores are numbers, infinite ones included.
class SortedSet {
 public:
  struct Member {
    double score;
    std::string name;
    bool operator==(const Member&) const = default;
  };

  /// Returns null if there is no such member.
  [[nodiscard]] const Member* find(std::string_view name) const noexcept {
    const auto at =
        std::ranges::find_if(members_, [name](const Member& member) { return member.name == name; });
    return at == members_.end() ? nullptr : &*at;
  }
  /// The number of members before this one, which belongs to the set.
  [[nodiscard]] std::size_t rank(const Member& member) const noexcept {
    return static_cast<std::size_t>(&member - members_.data());
  }
  /// In order.
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }

  /// Adds a member or changes its score. Returns whether it is new.
  bool put(std::string_view name, double score) {
    const bool is_new = !remove(name);
    Member member{score + 0.0, std::string{name}};  // servers that keep sets in their compact form know no -0
    members_.insert(std::ranges::upper_bound(members_, member, is_before), std::move(member));
    return is_new;
  }
  /// Returns whether there was such a member.
  bool remove(std::string_view name) {
    return std::erase_if(members_, [name](const Member& member) { return member.name == name; }) > 0;
  }

  bool operator==(const SortedSet&) const = default;

 private:
  static bool is_before(const Member& a, const Member& b) noexcept {
    return a.score < b.score || (a.score == b.score && a.name < b.name);
  }

  std::vector<Member> members_;
};

}  // namespace redlock::simulation
