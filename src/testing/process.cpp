#include "testing/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace redlock::testing::detail {
namespace {

void require(int error, const std::string& what) {
  if (error != 0) throw std::system_error{error, std::generic_category(), "cannot start " + what};
}

class FileActions {
 public:
  explicit FileActions(const Launch& launch) {
    const std::string& what = launch.arguments.front();
    require(::posix_spawn_file_actions_init(&value_), what);
    const int error = fill(launch);
    if (error == 0) return;
    ::posix_spawn_file_actions_destroy(&value_);
    require(error, what);
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&value_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &value_; }

 private:
  int fill(const Launch& launch) {
    const int input =
        launch.input >= 0
            ? ::posix_spawn_file_actions_adddup2(&value_, launch.input, STDIN_FILENO)
            : ::posix_spawn_file_actions_addopen(&value_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (input != 0) return input;
    const int output = ::posix_spawn_file_actions_addopen(&value_, STDOUT_FILENO, launch.output.c_str(),
                                                          O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (output != 0) return output;
    const int errors = launch.errors.empty()
                           ? ::posix_spawn_file_actions_adddup2(&value_, STDOUT_FILENO, STDERR_FILENO)
                           : ::posix_spawn_file_actions_addopen(&value_, STDERR_FILENO, launch.errors.c_str(),
                                                                O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (errors != 0) return errors;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Our own descriptors are close-on-exec; others in the program may not be.
    return ::posix_spawn_file_actions_addclosefrom_np(&value_, STDERR_FILENO + 1);
#else
    return 0;
#endif
  }

  posix_spawn_file_actions_t value_{};
};

class Attributes {
 public:
  explicit Attributes(const Launch& launch) {
    require(::posix_spawnattr_init(&value_), launch.arguments.front());
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    // These setters fail only for invalid values.
    ::posix_spawnattr_setsigmask(&value_, &none);
    ::posix_spawnattr_setsigdefault(&value_, &all);
    ::posix_spawnattr_setpgroup(&value_, launch.group);
    ::posix_spawnattr_setflags(&value_,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&value_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

bool is_executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

pid_t launch(const Launch& launch) {
  const FileActions actions{launch};
  const Attributes attributes{launch};
  std::vector<std::string> arguments = launch.arguments;
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  require(::posix_spawn(&child, pointers.front(), actions.get(), attributes.get(), pointers.data(), environ),
          launch.arguments.front());
  return child;
}

bool reap(pid_t child, int flags) noexcept {
  pid_t result = 0;
  do {
    result = ::waitpid(child, nullptr, flags);
  } while (result < 0 && errno == EINTR);
  // An error means that another wait() call in this process reaped the child, so it has ended too.
  return result != 0;
}

std::optional<std::string> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    std::string path{name};
    return is_executable(path) ? std::optional{std::move(path)} : std::nullopt;
  }
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/bin:/bin";
  while (!folders.empty()) {
    const std::size_t end = folders.find(':');
    std::string path = std::string{folders.substr(0, end)} + '/' + std::string{name};
    if (is_executable(path)) return path;
    folders = end == std::string_view::npos ? std::string_view{} : folders.substr(end + 1);
  }
  return std::nullopt;
}

}  // namespace redlock::testing::detail
