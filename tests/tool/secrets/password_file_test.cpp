// redlock --password-file: the password of the nodes in a file, which may be replaced.
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"
#include "tool/program.hpp"
#include "tool/secrets/page_blocks.hpp"

using namespace redlock::testing;

namespace {

/// A server with the user "app", whose password stands in a file.
struct Fixture {
  LocalNodes nodes{1};
  TempFolder folder;
  std::string file = folder.write("password", "old\n");
  std::string url = "redis://app:@127.0.0.1:" + std::to_string(nodes.port(0));

  Fixture() { set_password("old"); }
  /// The only one of the user on the server. Ends its connections, which would else go on.
  void set_password(const std::string& password) const {
    RawClient server{nodes.port(0)};
    REQUIRE(server.command({"ACL", "SETUSER", "app", "reset", "on", '>' + password, "~*", "&*", "+@all"}) ==
            "OK");
    server.command({"CLIENT", "KILL", "USER", "app"});
  }
  void replace_file(const std::string& password) const {
    std::filesystem::rename(folder.write("next", password), file);
  }
  int connections() const {
    const std::string list = RawClient{nodes.port(0)}.command({"CLIENT", "LIST"});
    int count = 0;
    for (std::size_t at = 0; (at = list.find(" user=app ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  std::vector<std::string> with_file(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, {"--node", url, "--password-file", file});
    return words;
  }
};

}  // namespace

TEST_CASE("every_command_takes_the_password_from_a_file") {
  const Fixture f;
  CHECK(run_tool(f.with_file({"run", "held", "--", "true"})).code == 0);
  CHECK_THAT(run_tool(f.with_file({"status", "r"})).output, contains("Nobody holds r."));
  CHECK_THAT(run_tool(f.with_file({"nodes"})).output, contains("1 of 1 nodes vote"));
  Program holder{tool(f.with_file({"run", "r", "--", "sh", "-c", "echo ready; exec sleep 60"}))};
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  CHECK_THAT(run_tool(f.with_file({"list"})).output, contains("r "));
  CHECK_THAT(run_tool(f.with_file({"release", "--force", "--yes", "r"})).output, contains("Released r"));
  const std::string variable = "REDLOCK_PASSWORD_FILE=" + f.file;
  CHECK(Program{tool({"status", "--node", f.url, "r"}), {variable}}.wait().code == 0);
  CHECK_THAT(run_tool({"status", "--node", f.url, "--password-file", "/none", "r"}).errors,
             contains("the password file /none is missing"));
}

TEST_CASE("each_node_may_have_a_password_of_its_own_in_a_file") {
  const TempFolder folder;
  const LocalNodes one{1, {.password = "first"}};
  const LocalNodes other{1, {.password = "second"}};
  const auto url = [](const LocalNodes& nodes) { return "127.0.0.1:" + std::to_string(nodes.port(0)); };
  folder.write("127.0.0.1-" + std::to_string(one.port(0)), "first\n");
  folder.write("127.0.0.1-" + std::to_string(other.port(0)), "second\n");
  const std::string file = folder.path().string() + "/{host}-{port}";
  CHECK_THAT(run_tool({"nodes", "--node", url(one), "--node", url(other), "--password-file", file}).output,
             contains("2 of 2 nodes vote"));
  // A redlock inside reads the same files.
  Program outer{tool({"run", "--password-file", file, "r", "--", "sh", "-c",
                      REDLOCK_TOOL " check \"$REDLOCK_SEQUENCER\""}),
                {"REDLOCK_NODES=" + url(one) + ',' + url(other)}};
  CHECK(outer.wait().code == 0);
}

TEST_CASE("the_file_may_have_the_password_of_the_default_user") {
  const Fixture f;
  const std::string url = "redis://127.0.0.1:" + std::to_string(f.nodes.port(0));
  RawClient server{f.nodes.port(0)};  // stays logged in
  for (const std::string password : {"one", "two"}) {
    REQUIRE(server.command({"ACL", "SETUSER", "default", "resetpass", '>' + password}) == "OK");
    f.replace_file(password);
    CHECK(run_tool({"status", "--node", url, "--password-file", f.file, "r"}).code == 0);
    CHECK_THAT(run_tool({"nodes", "--node", url, "--password-file", f.file}).output,
               contains("1 of 1 nodes vote"));
  }
}

TEST_CASE("a_running_job_keeps_its_lock_when_the_password_is_replaced") {
  const Fixture f;
  const std::string end = (f.folder.path() / "end").string();
  const std::string job = "echo ready; until [ -e " + end + " ]; do sleep 0.05; done; echo done";
  Program holder{tool(f.with_file({"run", "--ttl", "6s", "r", "--", "sh", "-c", job}))};
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  f.replace_file("new");
  f.set_password("new");  // a connection with the old one is refused, so the file is read again soon
  REQUIRE(eventually([&] { return f.connections() > 0; }));
  RawClient server{f.nodes.port(0)};
  const std::uint64_t before = server.calls("pexpire");
  CHECK(eventually([&] { return server.calls("pexpire") > before; }));  // it renews the lock
  static_cast<void>(f.folder.write("end", ""));
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 0);
  CHECK(ending.output == "ready\ndone\n");
  CHECK(ending.errors.find("refuses") == std::string::npos);
}

TEST_CASE("the_steps_of_the_page_replace_a_password") {
  const std::vector<std::string> steps = blocks_of("docs/security.md").at("Passwords");
  REQUIRE(steps.size() == 3);
  const Fixture f;
  RawClient server{f.nodes.port(0)};
  f.set_password("OLD");
  f.replace_file("OLD\n");
  const auto status = [&] { return run_tool(f.with_file({"status", "r"})).code; };
  CHECK(status() == 0);
  REQUIRE(server.command(words_of(steps[0])) == "OK");
  CHECK(status() == 0);
  CHECK(Program{{"sh", "-ec", "cd " + f.folder.path().string() + '\n' + steps[1]}}.wait().code == 0);
  CHECK((std::filesystem::status(f.file).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  CHECK(status() == 0);
  REQUIRE(server.command(words_of(steps[2])) == "OK");
  CHECK(status() == 0);
  f.replace_file("OLD");
  CHECK(status() != 0);
}

TEST_CASE("redlock_watch_goes_on_with_a_replaced_password") {
  const Fixture f;
  Program watching{tool(f.with_file({"watch", "r"}))};
  REQUIRE(eventually([&] { return watching.output().find("free") != std::string::npos; }));
  f.replace_file("new");
  f.set_password("new");
  REQUIRE(eventually([&] { return f.connections() == 2; }));  // that of the client, and the listener
  const std::size_t seen = watching.output().size();
  const Program holder{tool(f.with_file({"run", "r", "--", "sleep", "60"}))};
  CHECK(eventually([&] { return watching.output().find("held", seen) != std::string::npos; }));
}

TEST_CASE("the_command_gets_the_password_file_but_nothing_of_the_connections_with_clean_env") {
  const Fixture f;
  const std::vector<std::string> variables{"REDLOCK_NODES_FILE=/unused", "REDLOCK_PASSWORD_FILE=/unused",
                                           "REDLOCK_PASSWORD=swordfish", "REDLOCK_TLS_KEY=/unused",
                                           "REDLOCK_TLS_CACERT=/unused", "REDLOCK_TLS_SERVER_NAME=unused"};
  const auto environment = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = f.with_file({"run"});
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"r", "--", "sh", "-c", "env | grep ^REDLOCK_ | sort"});
    return Program{tool(words), variables}.wait().output;
  };
  CHECK_THAT(environment({}), contains("REDLOCK_PASSWORD_FILE=" + f.file + '\n'));
  const std::string clean = environment({"--clean-env"});
  CHECK_THAT(clean, contains("REDLOCK_OWNER="));
  for (const char* const begin : {"REDLOCK_NODES", "REDLOCK_PASSWORD", "REDLOCK_TLS_"})
    CHECK_THAT(clean, !contains(begin));
}

TEST_CASE("a_password_file_that_becomes_a_pipe_does_not_keep_a_run_from_its_end") {
  const Fixture f;
  Program job{tool(f.with_file({"run", "r", "--", "sh", "-c", "echo ready; exec sleep 3"}))};
  REQUIRE(eventually([&] { return job.output() == "ready\n"; }));
  const std::string pipe = f.folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::rename(pipe, f.file);
  f.set_password("new");  // so that the file is read at once
  CHECK(eventually([&] { return !job.is_running(); }));
}
