// redlock-sim: the library's core in a world in which everything goes wrong.
#include <CLI/CLI.hpp>
#include <iostream>
#include "simulation/timeline.hpp"
#include "simulation/world.hpp"
using namespace redlock::simulation;
int main(int argc, char** argv) {
  CLI::App app;
  std::uint64_t seed = 1, schedules = 1;
  std::string profile = "within";
  bool show = false;
  std::string mutant, only;
  app.add_option("--seed", seed);
  app.add_option("--schedules", schedules);
  app.add_option("--profile", profile);
  app.add_flag("--show", show);
  app.add_option("--mutant", mutant); app.add_option("--only", only);
  CLI11_PARSE(app, argc, argv);
  if (mutant == "all") {
    for (const auto& m : mutants()) { if (!only.empty() && m->name() != only) continue;
      Interpreter interpreter;
      std::uint64_t i = 0;
      std::string found = "NOT FOUND";
      for (; i < schedules; ++i) {
        const Schedule schedule = draw_schedule(seed + i, i % 2 ? Profile::beyond : Profile::within);
        History history;
        World world{schedule, interpreter, history, m.get()};
        if (const auto v = world.run().violation) {
          found = std::string{name_of(v->rule)} + ": " + v->text;
          break;
        }
      }
      std::cout << m->name() << " " << i + 1 << " " << found << std::endl;
    }
    return 0;
  }
  Interpreter interpreter;
  Figures all;
  const Mutant* chosen = nullptr;
  for (const auto& m : mutants())
    if (m->name() == mutant) chosen = m.get();
  for (std::uint64_t i = 0; i < schedules; ++i) {
    const Schedule schedule =
        draw_schedule(seed + i, profile == "within" ? Profile::within : Profile::beyond);
    History history{show};
    World world{schedule, interpreter, history, chosen};
    const Outcome outcome = world.run();
    all.add(outcome.figures);
    if (show) std::cout << text_timeline({"t", "v", schedule.clients, schedule.nodes, history.events()});
    if (outcome.violation) {
      std::cout << "seed " << seed + i << ": " << name_of(outcome.violation->rule) << ": "
                << outcome.violation->text << " at " << outcome.violation->at << "\n";
      if (!show) break;
    }
  }
  std::cout << all.schedules << " schedules, faults " << all.faults << ", commands " << all.commands
            << ", attempts " << all.attempts << ", grants " << all.grants << ", second " << all.second_rounds
            << ", repairs " << all.repairs << ", ext " << all.extensions << ", overlaps " << all.overlaps << ", refused "
            << all.writes_refused << ", lost " << all.writes_lost_unfenced << "\n";
}
