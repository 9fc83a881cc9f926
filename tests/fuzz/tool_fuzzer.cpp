// Any words are a command line with arguments in their ranges, or are refused with a reason that is printable and shows no
// password. Nothing is executed.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/finding.hpp"
#include "tool/command_line/command_line.hpp"
#include "tool/command_line/commands.hpp"
#include "tool/exit_code.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::tool;
using namespace std::chrono_literals;

constexpr std::string_view secret = "hunter2";  // the password of the corpus and of the dictionary
constexpr int executed = 1000;                  // no exit code

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> allowed) {
  return std::ranges::find(allowed, text) != allowed.end();
}
void check_time(std::chrono::nanoseconds time) {
  must(time >= 0ns && time <= 24h * 365, "a time has up to 365 days");
}

void check(const NodeChoice& nodes) {
  must(nodes.local >= 0 && nodes.local <= 31, "there are up to 31 private servers");
  if (nodes.max_ttl) check_time(*nodes.max_ttl);
  if (nodes.restart_guard)
    must(is_one_of(*nodes.restart_guard, {"automatic", "strict", "off"}), "a guard has one of its names");
}
void check(const RunArguments& run) {
  check(run.nodes);
  must(!run.command.empty(), "there is a command to run");
  for (const auto time : {run.ttl, run.kill_after, run.at_least, run.wait.value_or(0ns)}) check_time(time);
  if (run.node_wait) check_time(*run.node_wait);
  must(!run.is_shared || (!run.seats && run.at_least == 0ns), "options that exclude each other are refused");
  must(run.conflict_code >= 0 && run.conflict_code <= 255, "an exit code has 8 bits");
}
void check(const NodesArguments& nodes) {
  check(nodes.nodes);
  if (nodes.timeout) check_time(*nodes.timeout);
  must(!nodes.wait || (!nodes.json && nodes.resource.empty()), "options that exclude each other are refused");
  must(!nodes.timeout || nodes.wait, "an option without the one that it needs is refused");
}
void check(const AclArguments& acl) {
  must(!acl.features.empty(), "a user may do something");
  must(!acl.user.empty() && is_printable(acl.user) && acl.user.find_first_of(" \"'\\") == acl.user.npos,
       "a server takes the name of the user");
}

/// Instead of what the command does.
int check_arguments(const Commands& commands) {
  switch (commands.chosen()) {
    case CommandName::run:
      check(commands.run_arguments);
      break;
    case CommandName::elect:
      check(commands.elect_arguments);
      break;
    case CommandName::leader:
      check(commands.leader_arguments.nodes);
      break;
    case CommandName::status:
      check(commands.status_arguments.nodes);
      break;
    case CommandName::list:
      check(commands.list_arguments.nodes);
      break;
    case CommandName::watch:
      check(commands.watch_arguments.nodes);
      break;
    case CommandName::release:
      check(commands.release_arguments.nodes);
      break;
    case CommandName::revoke:
      check(commands.revoke_arguments.nodes);
      break;
    case CommandName::check:
      check(commands.check_arguments.nodes);
      break;
    case CommandName::set:
      must(commands.nodes_arguments.nodes.max_ttl.has_value(), "what is to be set is given");
      check(commands.nodes_arguments);
      break;
    case CommandName::nodes:
    case CommandName::init:
      check(commands.nodes_arguments);
      break;
    case CommandName::acl:
      check(commands.acl_arguments);
      break;
  }
  return executed;
}

/// The words of a command line: lines, up to the first zero, as the words of a process have none.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream in{std::string{text}};
  for (std::string word; std::getline(in, word);) words.emplace_back(word.c_str());
  return words;
}

/// Returns true if the word has the password only where a URL has it, or text that looks like one.
bool keeps_secret(std::string word) {
  const std::size_t begin = word.find("://");
  const std::size_t end = word.rfind('@');
  const bool is_url = begin != word.npos && end != word.npos && begin + 3 < end;
  if (is_url) word.erase(begin + 3, end - begin - 3);
  if (word.find_first_of(" \t\n") == word.npos) {
    if (!is_url && end != word.npos && word.find(':') < end) word.erase(0, end);
    if (const std::size_t name = word.find("password="); name != word.npos) word.erase(name + 9);
  }
  return word.find(secret) == word.npos;
}

void check_refusal(const std::vector<std::string>& words, std::string_view text, std::size_t size) {
  must(!text.empty() && text.ends_with('\n'), "a refusal says why");
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    must(is_printable(rest.substr(0, rest.find('\n'))), "a refusal is printable");
    ++lines;
  }
  must(lines <= 2 && text.size() < 4 * size + 1000, "a refusal is short");
  if (std::ranges::all_of(words, keeps_secret))
    must(text.find(secret) == text.npos, "a refusal does not repeat the password of a node");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = words_in({reinterpret_cast<const char*>(data), size});
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_command_line({words}, check_arguments, out, err);
  if (code == executed) {
    must(out.view().empty() && err.view().empty(), "what is executed is not explained");
  } else if (code == success) {
    must(!out.view().empty() && err.view().empty(), "help is no error");
  } else {
    must(code == usage && out.view().empty(), "what is not executed is wrong usage");
    check_refusal(words, err.view(), size);
  }
  return 0;
}
