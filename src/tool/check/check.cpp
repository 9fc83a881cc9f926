#include "tool/check/check.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"

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
  const SequencerState state = locks.check(sequencer);
  std::cout << (arguments.json ? json_text(json_of(sequencer, state)) : std::string{to_string(state)})
            << '\n';
  if (state == SequencerState::valid) return success;
  if (state == SequencerState::stale) return conflict;
  const std::vector<NodeReport> reports = locks.inspect(sequencer.resource());
  std::cerr << "redlock: no majority of the nodes decides; they say:\n";
  for (const NodeReport& report : reports) std::cerr << "  " << report << '\n';
  return without_majority(misconfigured(reports), reports.size());
}

}  // namespace redlock::tool
