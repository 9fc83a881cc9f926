// chaos-client: one client process of redlock-chaos, which starts it.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "chaos/worker/task.hpp"

int main(int argc, char** argv) try {
  CLI::App app{"A client process of redlock-chaos", "chaos-client"};
  redlock::chaos::Task task;
  int role = 0;
  bool no_guard = false;
  bool no_tokens = false;
  app.add_option("--role", role)->check(CLI::Range(0, 9));
  app.add_option("--seed", task.seed);
  app.add_option("--log", task.log)->required();
  app.add_option("--folder", task.folder);
  app.add_option("--tool", task.tool);
  app.add_option("--run-file", task.run_file);
  app.add_option("--node", task.nodes);
  app.add_flag("--no-guard", no_guard);
  app.add_flag("--no-tokens", no_tokens);
  CLI11_PARSE(app, argc, argv);
  task.role = static_cast<redlock::chaos::Role>(role);
  task.is_guarded = !no_guard;
  task.uses_tokens = !no_tokens;
  task.own = argv[0];
  perform(task);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "chaos-client: " << error.what() << '\n';
  return 1;
}
