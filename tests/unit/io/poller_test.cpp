#include "io/sockets/poller.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "os/wake_event.hpp"
#include "redlock/clock.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::Clock;
using redlock::detail::Poller;
using redlock::detail::PollSet;
using redlock::detail::WakeEvent;
using Found = std::vector<std::pair<PollSet::Tag, short>>;

Found found_by(const Poller& poller, PollSet& poll, Clock::duration at_most) {
  const auto now = Clock::now();
  poller.wait(poll, now + at_most, now);
  Found found;
  poll.each_ready([&](PollSet::Tag tag, short events) { found.emplace_back(tag, events); });
  return found;
}

/// As on a kernel before 5.11. For the rest of the process. Returns false if the call is still there.
bool forbid_the_precise_wait() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  return ::syscall(SYS_epoll_pwait2, -1, nullptr, 0, nullptr, nullptr) == -1 && errno == ENOSYS;
}

}  // namespace

TEST_CASE("a_poll_finds_watched_descriptors_and_its_own_with_their_tags") {
  Poller poller;
  PollSet poll{2};
  const WakeEvent one;
  const WakeEvent other;
  const WakeEvent own;
  REQUIRE(poller.watch(one.fd(), 11));
  REQUIRE(poller.watch(other.fd(), 12));
  CHECK(found_by(poller, poll, 0s).empty());
  other.set();
  CHECK(found_by(poller, poll, 1h) == Found{{12, POLLIN}});
  CHECK(poll.has_found(12));
  CHECK_FALSE(poll.has_found(11));
  CHECK(found_by(poller, poll, 1h) == Found{{12, POLLIN}});  // as long as nobody reads it

  poll.clear();
  CHECK_FALSE(poll.has_found(12));
  poll.add(own.fd(), POLLIN, 13);
  CHECK(found_by(poller, poll, 1h) == Found{{12, POLLIN}});
  own.set();
  CHECK(found_by(poller, poll, 1h) == Found{{12, POLLIN}, {13, POLLIN}});
  other.clear();
  CHECK(found_by(poller, poll, 1h) == Found{{13, POLLIN}});
  own.clear();
  CHECK(found_by(poller, poll, 0s).empty());
}

TEST_CASE("a_poll_finds_no_more_watched_descriptors_than_it_has_room_for_and_the_others_next") {
  Poller poller;
  PollSet poll{1};
  const std::array<WakeEvent, 2> events;
  for (PollSet::Tag tag = 0; tag < 2; ++tag) {
    REQUIRE(poller.watch(events.at(tag).fd(), tag));
    events.at(tag).set();
  }
  const Found first = found_by(poller, poll, 1h);
  REQUIRE(first.size() == 1);
  events.at(first[0].first).clear();
  CHECK(found_by(poller, poll, 1h) == Found{{1 - first[0].first, POLLIN}});
}

TEST_CASE("a_descriptor_that_was_forgotten_is_not_found_although_a_copy_of_it_is_open") {
  Poller poller;
  PollSet poll{1};
  const WakeEvent event;
  const redlock::detail::Descriptor copy{::dup(event.fd())};
  REQUIRE(poller.watch(event.fd(), 1));
  event.set();
  poller.forget(event.fd());
  CHECK(found_by(poller, poll, 0s).empty());
  REQUIRE(poller.watch(event.fd(), 2));
  CHECK(found_by(poller, poll, 1h) == Found{{2, POLLIN}});
}

TEST_CASE("what_the_system_cannot_watch_is_not_watched") {
  Poller poller;
  CHECK_FALSE(poller.watch(-1, 1));
  const WakeEvent event;
  REQUIRE(poller.watch(event.fd(), 1));
  CHECK_FALSE(poller.watch(event.fd(), 2));  // it is there already
  poller.forget(-1);
}

TEST_CASE("a_wait_ends_in_time_and_not_before") {
  const Poller poller;
  PollSet poll{1};
  for (const bool has_own : {false, true}) {
    const WakeEvent own;
    poll.clear();
    if (has_own) poll.add(own.fd(), POLLIN, 1);
    const auto until = Clock::now() + 300us;
    for (auto now = Clock::now(); now < until; now = Clock::now()) poller.wait(poll, until, now);
    CHECK(Clock::now() >= until);
  }
}

TEST_CASE("where_the_kernel_has_no_precise_wait_for_its_list_the_list_is_polled") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!forbid_the_precise_wait()) ::_exit(2);
    Poller poller;
    PollSet poll{1};
    const WakeEvent event;
    const bool is_watched = poller.watch(event.fd(), 5);
    const bool is_empty = found_by(poller, poll, 1ms).empty();
    event.set();
    const bool is_found = found_by(poller, poll, 1h) == Found{{5, POLLIN}};
    event.clear();
    const bool is_empty_again = found_by(poller, poll, 1ms).empty();
    ::_exit(is_watched && is_empty && is_found && is_empty_again ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
