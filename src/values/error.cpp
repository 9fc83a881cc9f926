#include "redlock/error.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock {
inline namespace v1 {
namespace {

/// Returns true if the details of such an error replace the explanation in the code's message.
bool details_replace_meaning(Errc code) {
  return code == Errc::no_quorum || code == Errc::cancelled || code == Errc::misconfigured;
}

std::string describe(Errc code, const std::string& details, const std::vector<NodeReport>& nodes) {
  std::string outcome = make_error_code(code).message();
  if (!details.empty() && details_replace_meaning(code)) outcome.resize(outcome.find(':'));
  std::ostringstream text;
  text << outcome;
  if (!details.empty()) text << ": " << details;
  for (const auto& node : nodes) text << "\n  " << node;
  return text.str();
}

}  // namespace

Error::Error(Errc code, const std::string& details, std::vector<NodeReport> nodes)
    : std::system_error{make_error_code(code)}, nodes_{std::move(nodes)} {
  // The constructor of system_error would append the code's message after the lines of the nodes, so set the
  // text in its base class.
  std::runtime_error::operator=(std::runtime_error{describe(code, details, nodes_)});
}

Error::~Error() = default;

}  // namespace v1
}  // namespace redlock
