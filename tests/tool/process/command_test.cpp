// The parts of redlock run that have to do with processes.
#include "tool/run/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "support/catch.hpp"
#include "support/own_process.hpp"
#include "tool/watch/close_descriptors.hpp"

using redlock::testing::is_running_child;
using redlock::tool::Command;

TEST_CASE("a_command_that_is_continued_at_once_after_each_stop_is_not_taken_for_one_that_has_ended") {
  sigset_t none;
  ::sigemptyset(&none);
  Command command{{.words = {"sleep", "600"}, .environment = {}, .signals = none, .before_exec = [](pid_t) {
                     return true;
                   }}};
  const std::jthread stopper{[&command] {
    for (int round = 0; round < 100'000; ++round) {
      command.signal(SIGSTOP);
      command.signal(SIGCONT);
    }
    command.signal(SIGKILL);
  }};
  while (command.wait() != 0) {
  }
  CHECK_FALSE(is_running_child(command.group()));
}

TEST_CASE("descriptors_are_closed_also_where_the_system_cannot_close_them_all_at_once") {
  for (const auto close_from :
       {&redlock::tool::close_descriptors_from, &redlock::tool::close_each_descriptor_from}) {
    int report[2];
    REQUIRE(::pipe(report) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(report[1], 0);
      for (int number = 0; number < 2000; ++number) ::fcntl(0, F_DUPFD, 3);
      ::fcntl(0, F_DUPFD, 20'000);  // fails where the limit is lower
      close_from(1);
      char open = 0;
      for (int each = 1; each < 30'000; ++each) open = ::fcntl(each, F_GETFD) >= 0 ? 1 : open;
      ::_exit(::write(0, &open, 1) == 1 ? 0 : 1);
    }
    ::close(report[1]);
    char open = 2;
    CHECK(::read(report[0], &open, 1) == 1);
    CHECK(open == 0);
    CHECK(::read(report[0], &open, 1) == 0);  // nobody has the other end
    ::close(report[0]);
    ::waitpid(child, nullptr, 0);
  }
}
