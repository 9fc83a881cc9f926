// The commands for one server, and how their replies are read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "redlock/core/wire/reply.hpp"
#include "redlock/endpoint.hpp"
#include "tool/probe/node_facts.hpp"
#include "tool/probe/probe.hpp"

namespace redlock::tool {

struct Question {
  Secret command;  ///< Encoded. One of them contains the password.
  /// Reads the reply, which may be anything.
  std::function<void(const core::Reply&, NodeFacts&)> note;
};

/// Everything but clock and round trip. The first questions log in.
[[nodiscard]] std::vector<Question> all_questions(const Endpoint&, const ProbeOptions&);

/// Whether the user may listen to deleted locks. After it the connection cannot be used.
[[nodiscard]] Question listening_question();

}  // namespace redlock::tool
