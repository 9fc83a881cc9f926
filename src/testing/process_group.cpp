#include "testing/process_group.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "testing/process.hpp"

namespace redlock::testing::detail {
namespace {

std::string make_temp_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "redlock-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw std::system_error{errno, std::generic_category(), "cannot create the temp folder " + path};
  }
  return path;
}

// The second removal is for a file that a process created while it was being killed.
constexpr const char* kWatch =
    "trap '' HUP INT QUIT TERM; read -r line; kill -s KILL -- \"-$1\"; "
    "rm -rf -- \"$2\" || { sleep 1; rm -rf -- \"$2\"; }";

}  // namespace

ProcessGroup::ProcessGroup() : owner_{::getpid()}, folder_{make_temp_folder()} {
  try {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw std::system_error{errno, std::generic_category(), "cannot create a socket pair"};
    }
    const Fd reading{ends[0]};
    lifeline_ = Fd{ends[1]};
    anchor_ = launch({.arguments = {"/bin/sh", "-c", "kill -s STOP $$"}});
    watchdog_ =
        launch({.arguments = {"/bin/sh", "-c", kWatch, "redlock-watchdog", std::to_string(anchor_), folder_},
                .input = reading.get()});
  } catch (...) {
    end_by_hand();
    if (anchor_ > 0) reap(anchor_);
    throw;
  }
}

ProcessGroup::~ProcessGroup() {
  if (!is_ours()) return;
  // Send a line instead of only closing the stream: a forked child may hold a copy of our end.
  const bool told = ::send(lifeline_.get(), "\n", 1, MSG_NOSIGNAL) == 1;
  reap(watchdog_);
  if (!told) end_by_hand();
  reap(anchor_);
}

void ProcessGroup::end_by_hand() noexcept {
  if (anchor_ > 0) ::kill(-anchor_, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool ProcessGroup::is_ours() const noexcept { return ::getpid() == owner_; }

}  // namespace redlock::testing::detail
