// The command redlock. Its command line is in command_line/, the commands are in run/, locks/, nodes/ and status.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"
#include "tool/command_line/command_line.hpp"
#include "tool/command_line/commands.hpp"
#include "tool/command_line/credentials.hpp"
#include "tool/election/elect.hpp"
#include "tool/exit_code.hpp"
#include "tool/output.hpp"
#include "tool/run/command.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/watch/init_process.hpp"

namespace {

using namespace redlock::tool;

/// Opens stdin, stdout and stderr if they are closed, so that no other descriptor gets their numbers. They
/// are closed again in the command. Output to a closed stdout is lost, so that writing it has to fail.
void open_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0)  // the next one that is opened, because all below are open
      ::open("/dev/null", (number == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

/// Whether `complain` may be kept waiting by a stderr that nobody reads.
bool complains_briefly = false;

/// Says why the command fails.
void complain(const std::string& why) {
  const std::string text = "redlock: " + why + '\n';
  if (complains_briefly)
    tell_at_the_end(text);
  else
    std::cerr << text;
}

int end_with(const Ending& ending) {
  if (ending.signal != 0) die_by_signal(ending.signal);
  return ending.code;
}

int execute(const Commands& commands) {
  serve_as_init();
  complains_briefly = commands.chosen() == CommandName::run || commands.chosen() == CommandName::elect;
  switch (commands.chosen()) {
    case CommandName::run:
      return end_with(run(commands.run_arguments));
    case CommandName::elect:
      return end_with(elect(commands.elect_arguments));
    case CommandName::leader:
      return show_leader(commands.leader_arguments);
    case CommandName::status:
      return status(commands.status_arguments);
    case CommandName::list:
      return list(commands.list_arguments);
    case CommandName::watch:
      return watch_lock(commands.watch_arguments);
    case CommandName::release:
      return force_release(commands.release_arguments);
    case CommandName::revoke:
      return revoke(commands.revoke_arguments);
    case CommandName::check:
      return check(commands.check_arguments);
    case CommandName::nodes:
      return nodes(commands.nodes_arguments);
    case CommandName::set:
      return set_max_ttl(commands.nodes_arguments);
    case CommandName::init:
      return begin_deployment(commands.nodes_arguments);
    case CommandName::acl:
      return print_acl(commands.acl_arguments);
  }
  return internal_error;
}

/// A command whose output is lost does not succeed. A pipe that nobody reads ends it silently, as by SIGPIPE.
int code_after_output(int code, int error) {
  if (error == 0) return code;
  if (error == EPIPE) return killed_by_signal + SIGPIPE;
  std::cerr << "redlock: cannot write the output: " << std::generic_category().message(error) << '\n';
  return not_written;
}

int exit_code_of(const std::error_code& code) {
  if (code.category() != redlock::category()) return internal_error;
  const bool is_usage = code == redlock::Errc::invalid_argument || code == redlock::Errc::misconfigured;
  return is_usage ? usage : no_quorum;
}

}  // namespace

int main(int argc, char** argv) try {
  open_standard_descriptors();
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid cannot report how a child ended
  survive_file_size_limit();
  Output output;
  const int code = run_command_line(take_command_line(argc, argv), execute, std::cout, std::cerr);
  return code_after_output(code, output.finish());
} catch (const NotExecuted& error) {
  complain(redlock::core::printable(error.what(), std::string::npos));
  return error.code() == std::errc::no_such_file_or_directory ? not_found : not_executable;
} catch (const redlock::Error& error) {
  complain(error.what());
  return exit_code_of(error.code());
} catch (const std::exception& error) {
  complain(redlock::core::printable(error.what(), std::string::npos));
  return internal_error;
}
