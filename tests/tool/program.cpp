#include "tool/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/own_process.hpp"
#include "testing/process.hpp"

namespace redlock::testing {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string path_of(const std::string& program) {
  const auto path = detail::find_program(program);
  if (!path) throw std::runtime_error{"no program " + program};
  return *path;
}

}  // namespace

Program::Program(std::vector<std::string> words, const std::vector<std::string>& variables) {
  words.front() = path_of(words.front());
  words.insert(words.begin(), variables.begin(), variables.end());
  words.insert(words.begin(),
               {path_of("env"), "-u", "REDLOCK_NODES", "-u", "REDLOCK_NODES_FILE", "-u", "HOME"});
  pid_ = detail::launch({.arguments = std::move(words),
                         .output = group_.folder() + "/output",
                         .errors = group_.folder() + "/errors",
                         .group = group_.id()});
}

Program::~Program() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  detail::reap(pid_);
}

void Program::signal(int number) const { ::kill(pid_, number); }

bool Program::is_running() const { return is_running_child(pid_); }

Program::Ending Program::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {code, output(), errors(), WIFSIGNALED(status)};
}

std::string Program::errors() const { return read_file(group_.folder() + "/errors"); }

bool last_line_has(const Program& program, const std::string& text) {
  return eventually([&] {
    std::string last;
    std::istringstream lines{program.output()};
    for (std::string line; std::getline(lines, line);) last = line;
    return last.find(text) != std::string::npos;
  });
}

std::size_t children_of(pid_t process) {
  const std::string id = std::to_string(process);
  std::istringstream children{read_file("/proc/" + id + "/task/" + id + "/children")};
  std::size_t count = 0;
  for (pid_t child = 0; children >> child;) ++count;
  return count;
}

std::string Program::output() const { return read_file(group_.folder() + "/output"); }

std::vector<std::string> tool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), REDLOCK_TOOL);
  return arguments;
}

std::string nodes_variable(const std::vector<std::string>& urls) {
  std::string list = "REDLOCK_NODES=";
  for (const std::string& url : urls) list += (list.back() == '=' ? "" : ",") + url;
  return list;
}

std::vector<std::string> without_rights() {
  if (::geteuid() != 0) return {};
  return {"/usr/bin/env", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
}

Program::Ending run_tool(std::vector<std::string> arguments, const std::vector<std::string>& urls) {
  return Program{tool(std::move(arguments)), {nodes_variable(urls)}}.wait();
}

}  // namespace redlock::testing
