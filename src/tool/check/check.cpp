#include "tool/check/check.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"

namespace redlock::tool {
namespace {

nlohmann::json json_of(const Sequencer& sequencer, SequencerState state) {
  nlohmann::json json{{"resource", sequencer.resource()}, {"state", to_string(state)}};
  json["kind"] = sequencer.is_shared() ? "shared" : "exclusive";
  if (sequencer.token()) json["token"] = sequencer.token().value();
  return json;
}

}  // namespace

int check(const CheckArguments& arguments) {
  const Sequencer sequencer = Sequencer::parse(arguments.sequencer);
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  std::vector<NodeReport> reports;
  const SequencerState state = locks.check(sequencer, reports);
  std::cout << (arguments.json ? json_text(json_of(sequencer, state)) : std::string{to_string(state)})
            << '\n';
  if (state == SequencerState::valid) return success;
  if (state == SequencerState::stale) return conflict;
  std::cerr << "redlock: no majority of the nodes decides; they say:\n";
  write_reports(std::cerr, reports);
  return without_majority(misconfigured(reports), reports.size());
}

}  // namespace redlock::tool
