// What a thread waits for that handles connections.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <cstddef>
#include <vector>

#include "os/descriptor.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::detail {

/// The descriptors that one wait has found ready, and those that it is for besides the watched ones. Each has a tag, which
/// tells whose it is.
class PollSet {
 public:
  using Tag = std::size_t;

  /// `most_watched`: so many of the watched descriptors can be found at once.
  explicit PollSet(std::size_t most_watched) : watched_(most_watched), polled_(1) {}

  /// Forgets all descriptors and what was found.
  void clear() noexcept {
    polled_.resize(1);
    tags_.clear();
    found_ = 0;
  }
  /// Also waits for this descriptor. `events`: of poll(2).
  void add(int fd, short events, Tag tag) {
    polled_.push_back({fd, events, 0});
    tags_.push_back(tag);
  }
  /// Calls `each(Tag, short events)` for each descriptor that has events, the watched ones first.
  template <class Each>
  void each_ready(Each&& each) const {
    for (std::size_t i = 0; i < found_; ++i)
      each(static_cast<Tag>(watched_[i].data.u64), static_cast<short>(watched_[i].events));
    for (std::size_t i = 0; i < tags_.size(); ++i)
      if (polled_[i + 1].revents != 0) each(tags_[i], polled_[i + 1].revents);
  }
  [[nodiscard]] bool has_found(Tag wanted) const {
    bool is_found = false;
    each_ready([&](Tag tag, short) { is_found = is_found || tag == wanted; });
    return is_found;
  }

 private:
  friend class Poller;

  std::vector<epoll_event> watched_;
  std::size_t found_ = 0;       // of the watched ones
  std::vector<pollfd> polled_;  // first the kernel's list, then those that were added
  std::vector<Tag> tags_;       // of those
};

/// The descriptors that every wait is for, in a list of the kernel: a wait takes no longer with more of them. Several threads
/// may wait; change the list under the client's mutex.
class Poller {
 public:
  /// Throws std::system_error.
  Poller();

  /// Waits for input on this descriptor from now on, also in waits under way. Returns false if the system has no room for it. Then
  /// it has to be added to each set.
  [[nodiscard]] bool watch(int fd, PollSet::Tag tag) noexcept;
  /// To be called before the descriptor is closed: a copy in a child of fork() would keep it in the list.
  void forget(int fd) noexcept;
  /// Blocks until a watched descriptor or one of the set has events, or until `until`. It may return before.
  void wait(PollSet&, core::Time until, core::Time now) const noexcept;

  void close_in_child() const noexcept { list_.close_in_child(); }

 private:
  Descriptor list_;  // of epoll(7)
};

}  // namespace redlock::inline v1::detail
