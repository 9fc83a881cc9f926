// Passwords of the nodes, and who can see them.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/own_process.hpp"
#include "support/sanitized.hpp"
#include "support/temp_folder.hpp"
#include "tool/nodes.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

std::string command_line_of(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/cmdline"};
  std::string words{std::istreambuf_iterator<char>{file}, {}};
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

/// How often the text is in the memory that a process can write to. Only root may look.
int count_in_memory(pid_t process, const std::string& text) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::ifstream maps{folder + "/maps"};
  std::ifstream memory{folder + "/mem", std::ios::binary};
  REQUIRE(memory);
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[5] = {};
    constexpr std::uint64_t shadow = std::uint64_t{1} << 27U;  // sanitizers map larger ones
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w') continue;
    if (end - begin > shadow) continue;
    std::string bytes(end - begin, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(begin));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) ++found;
  }
  return found;
}

/// Whether a process that has chosen these nodes leaves core dumps.
bool is_dumpable_with(const redlock::tool::NodeChoice& choice) {
  REQUIRE(::prctl(PR_GET_DUMPABLE) == 1);
  CHECK(redlock::tool::choose_nodes(choice).endpoints.size() == 1);
  const bool is_dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  ::prctl(PR_SET_DUMPABLE, 1);
  return is_dumpable;
}

/// Words that run `redlock` as a user without rights.
std::vector<std::string> tool_without_rights(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = without_rights();
  const std::vector<std::string> all = tool(arguments);
  words.insert(words.end(), all.begin(), all.end());
  return words;
}

/// Waits until the program is ready. Returns false if a user without rights cannot run it on this machine.
bool is_ready(const Program& program) {
  REQUIRE(eventually([&] { return program.output() == "ready\n" || !program.is_running(); }));
  if (program.is_running()) return true;
  CAPTURE(program.errors());
  REQUIRE(::geteuid() == 0);
  WARN("skipped: a user without rights may not run redlock here");
  return false;
}

/// Whether the process leaves core dumps.
bool is_open_to_its_user(pid_t process) {
  struct stat facts {};
  CHECK(::stat(("/proc/" + std::to_string(process) + "/environ").c_str(), &facts) == 0);
  return facts.st_uid != 0;
}

}  // namespace

// The client keeps the password, so that it can log in again. The command line is kept for the next term of an election, and the
// environment by the system. A connection that logs in has the password once more, until it has sent it.
TEST_CASE("a_password_on_the_command_line_or_in_the_environment_is_once_more_in_memory_than_one_in_a_file") {
  if (::geteuid() != 0) return;
  const std::string password = "swordfish-and-chips";
  const LocalNodes nodes{1, {.password = password}};
  const TempFolder folder;
  const std::string file = folder.write("nodes", nodes.url(0));
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  int in_file = std::numeric_limits<int>::max();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--nodes-file", file},
                                                {"--node", nodes.url(0)},
                                                {"--node=" + nodes.url(0)},
                                                {}}) {
    CAPTURE(words);
    std::vector<std::string> all{"run", "r", "--", "sh", "-c", "echo ready; exec sleep 600"};
    all.insert(all.begin() + 1, words.begin(), words.end());
    std::vector<std::string> variables;
    if (words.empty()) variables.push_back("REDLOCK_NODES=" + nodes.url(0));
    Program holder{tool(all), variables};
    REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
    const auto count = [&] { return count_in_memory(holder.id(), password); };
    const bool is_in_file = !words.empty() && words[0] == "--nodes-file";
    constexpr int in_environment = sanitized ? 2 : 1;  // a sanitizer copies the environment when it starts
    const int more = words.empty() ? in_environment : is_in_file ? 0 : 1;
    if (is_in_file)
      for (int repeated = 0; repeated < 5; ++repeated) in_file = std::min(in_file, count());
    CAPTURE(in_file);
    CHECK(eventually([&] { return count() <= in_file + more; }));
    CHECK(count() > 0);
    holder.signal(SIGTERM);
    holder.wait();
  }
}

TEST_CASE("a_password_on_the_command_line_is_not_in_the_list_of_processes") {
  const LocalNodes nodes{1, {.password = "swordfish"}};
  for (const bool is_one_word : {true, false}) {
    CAPTURE(is_one_word);
    std::vector<std::string> words{"run"};
    if (is_one_word)
      words.push_back("--node=" + nodes.url(0));
    else
      words.insert(words.end(), {"--node", nodes.url(0)});
    words.insert(words.end(), {is_one_word ? "one" : "two", "--", "sh", "-c", "echo ready; exec sleep 60"});
    Program holder{tool(words)};
    REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
    const std::string seen = command_line_of(holder.id());
    CHECK(seen.find("swordfish") == std::string::npos);
    CHECK(seen.find("redis://") != std::string::npos);
    CHECK(seen.find("@127.0.0.1:" + std::to_string(nodes.port(0)) +
                    (is_one_word ? " one -- sh -c" : " two -- sh -c")) != std::string::npos);
  }
}

TEST_CASE("a_password_in_a_slip_of_the_command_line_is_not_repeated") {
  for (const char* const slip :
       {"app:swordfish@10.0.0.1", "redis:/app:swordfish@h", "redis//:swordfish@h", "--nodeapp:swordfish@h",
        "redis://h/?password=swordfish", "redis://:swordfish@h", "--node:swordfish@h",
        "rediss:app:swordfish@h,redis://app:swordfish@h", "redis//app:swordfish--://app:swordfish@h"}) {
    CAPTURE(slip);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"status", slip, "r"},
                                                  {"status", "r", slip},
                                                  {slip},
                                                  {"run", slip, "r"},
                                                  {"status", "--max-ttl", slip, "r"},
                                                  {"status", "--restart-guard", slip, "r"}}) {
      const Program::Ending ending = run_tool(words, {"redis://127.0.0.1:1"});
      CHECK((ending.output + ending.errors).find("swordfish") == std::string::npos);
    }
  }
}

TEST_CASE("a_password_behind_an_option_that_does_not_exist_is_not_repeated") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"nodes", "--password", "swordfish"},
                                                {"acl", "--password=swordfish"},
                                                {"status", "r", "-a", "swordfish"},
                                                {"status", "-aswordfish", "r"},
                                                {"release", "--pass=swordfish"},
                                                {"release", "-aswordfish"},
                                                {"list", "--password:swordfish"},
                                                {"list", "--password swordfish"},
                                                {"list", "--nodes-file", "--auth", "swordfish"},
                                                {"nodes", "--local", "--auth=swordfish"},
                                                {"nodes", "--max-ttl", "--auth=swordfish"},
                                                {"list", "--user", "app", "--pass", "swordfish"},
                                                {"--auth", "swordfish", "list"},
                                                {"run", "r", "--token", "swordfish", "--", "true"},
                                                {"nodes", "set", "--secret", "swordfish"}}) {
    CAPTURE(words);
    const Program::Ending ending = run_tool(words, {"redis://127.0.0.1:1"});
    CHECK(ending.code == 64);
    CHECK((ending.output + ending.errors).find("swordfish") == std::string::npos);
  }
}

TEST_CASE("the_nodes_may_stand_in_a_file_that_others_cannot_read") {
  const LocalNodes nodes{1, {.password = "swordfish"}};
  const TempFolder folder;
  const std::string file = folder.write("nodes", nodes.url(0));
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  CHECK(run_tool({"status", "--nodes-file", file, "r"}).code == 0);
  CHECK(Program{tool({"status", "r"}), {"REDLOCK_NODES_FILE=" + file}}.wait().code == 0);
  std::filesystem::permissions(file, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  const Program::Ending refused = run_tool({"status", "--nodes-file", file, "r"});
  CHECK(refused.code == 64);
  CHECK(refused.errors.find("chmod o-r " + file) != std::string::npos);
  CHECK(refused.errors.find("swordfish") == std::string::npos);
}

TEST_CASE("a_nodes_file_that_names_no_node_is_refused_by_its_name") {
  const TempFolder folder;
  for (const char* const text : {"", "# redis://10.0.0.1\n\n"}) {
    const std::string file = folder.write("nodes", text);
    for (const Program::Ending& refused :
         {run_tool({"status", "--nodes-file", file, "r"}),
          Program{tool({"status", "r"}), {"REDLOCK_NODES_FILE=" + file}}.wait()}) {
      CHECK(refused.code == 64);
      CHECK_THAT(refused.errors, contains("the file " + file + " names no node"));
    }
  }
}

TEST_CASE("a_nodes_file_is_also_the_one_of_a_redlock_in_the_command") {
  const LocalNodes nodes{1, {.password = "swordfish"}};
  const TempFolder folder;
  const std::string file = folder.write("nodes", nodes.url(0));
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const std::string relative = std::filesystem::relative(file).string();
  // The variable comes before any file, so it must not reach the command.
  const std::vector<std::string> variables{"REDLOCK_NODES=redis://127.0.0.1:1"};
  const auto run = [&](std::vector<std::string> options) {
    std::vector<std::string> words{"run", "--nodes-file", relative};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"r", "--", "sh", "-c", "cd / && " REDLOCK_TOOL " status r"});
    return Program{tool(words), variables}.wait();
  };
  CHECK_THAT(run({}).output, contains("r is held by "));
  CHECK_THAT(run({"--clean-env"}).errors, contains("no nodes given"));
}

TEST_CASE("clean_env_keeps_the_nodes_out_of_the_environment_of_the_command") {
  const LocalNodes nodes{1};
  const std::vector<std::string> variables{nodes_variable(nodes.urls()), "REDLOCK_NODES_FILE=/unused"};
  const std::string show = "env | grep REDLOCK_ | cut -d= -f1 | sort";
  for (const char* const command : {"run", "elect"}) {
    CAPTURE(command);
    const Program::Ending clean =
        Program{tool({command, "--clean-env", "r", "--", "sh", "-c", show}), variables}.wait();
    CHECK(clean.output.find("REDLOCK_OWNER\n") != std::string::npos);
    CHECK(clean.output.find("REDLOCK_NODES") == std::string::npos);
    const Program::Ending whole = Program{tool({command, "r", "--", "sh", "-c", show}), variables}.wait();
    CHECK(whole.output.find("REDLOCK_NODES\nREDLOCK_NODES_FILE\n") != std::string::npos);
  }
}

TEST_CASE("a_process_that_knows_a_password_leaves_no_core_dump") {
  CHECK(is_dumpable_with({.urls = {"redis://10.0.0.1"}}));
  CHECK_FALSE(is_dumpable_with({.urls = {"redis://:secret@10.0.0.1"}}));
  CHECK_FALSE(is_dumpable_with({.urls = {"redis://10.0.0.1"}, .password_file = "password"}));
}

TEST_CASE("a_process_that_knows_a_private_key_leaves_no_core_dump") {
  CHECK_FALSE(is_dumpable_with({.urls = {"rediss://10.0.0.1"}, .cert_file = "c", .key_file = "k"}));
  CHECK(is_dumpable_with({.urls = {"rediss://10.0.0.1"}, .cert_file = "c"}));
  CHECK(
      is_dumpable_with({.urls = {"redis://10.0.0.1"}, .cert_file = "c", .key_file = "k"}));  // it is not read
}

TEST_CASE("a_holder_that_knows_a_password_leaves_no_core_dump") {
  const LocalNodes nodes{1, {.password = "swordfish"}};
  for (const std::string command : {"run", "elect"})
    for (const bool is_on_command_line : {true, false}) {
      CAPTURE(command, is_on_command_line);
      std::vector<std::string> words{command, "r", "--", "sh", "-c", "echo ready; exec sleep 60"};
      if (is_on_command_line) words.insert(words.begin() + 1, {"--node", nodes.url(0)});
      const std::vector<std::string> urls = is_on_command_line ? std::vector<std::string>{} : nodes.urls();
      Program holder{tool_without_rights(words), {nodes_variable(urls)}};
      if (!is_ready(holder)) return;
      CHECK_FALSE(is_open_to_its_user(holder.id()));
      holder.signal(SIGTERM);
      holder.wait();
    }
}

TEST_CASE("the_watchdog_leaves_no_core_dump") {
  const LocalNodes nodes{1};
  Program holder{tool_without_rights({"run", "r", "--", "sh", "-c", "echo ready; exec sleep 60"}),
                 {nodes_variable(nodes.urls())}};
  if (!is_ready(holder)) return;
  CHECK(is_open_to_its_user(holder.id()));  // it knows no password
  const std::string id = std::to_string(holder.id());
  CHECK(eventually([&] {
    std::ifstream children{"/proc/" + id + "/task/" + id + "/children"};
    for (pid_t child = 0; children >> child;)
      if (status_of(child, "Name") == "redlock-guard") return !is_open_to_its_user(child);
    return false;
  }));
}

TEST_CASE("private_servers_have_a_password") {
  const Program::Ending ending =
      run_tool({"run", "--local", "1", "r", "--", "sh", "-c", "echo $REDLOCK_NODES"});
  const std::size_t begin = ending.output.find("redis://:") + 9;
  CHECK(ending.output.find("@127.0.0.1") == begin + 40);
}
