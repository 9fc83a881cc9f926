#include "redlock/error.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock {
inline namespace v1 {
namespace {

/// Returns true if the details of such an error replace the explanation in the code's message.
bool details_replace_meaning(std::error_code code) {
  return code == Errc::no_quorum || code == Errc::cancelled || code == Errc::misconfigured ||
         code == Errc::invalid_argument;
}

std::string describe(std::error_code code, const std::string& details, std::span<const NodeReport> nodes) {
  std::string outcome = code.message();
  if (!details.empty() && details_replace_meaning(code)) outcome.resize(outcome.find(':'));
  std::ostringstream text;
  text << outcome;
  if (!details.empty()) text << ": " << details;
  for (const auto& node : nodes) text << "\n  " << node;
  return text.str();
}

}  // namespace

Error::Error(std::error_code code, std::string details, std::vector<NodeReport> nodes)
    : std::system_error{code},
      contents_{std::make_shared<Contents>(Contents{std::move(details), std::move(nodes)})} {
  // The constructor of system_error would append the code's message after the lines of the nodes, so set the
  // text in its base class.
  std::runtime_error::operator=(std::runtime_error{describe(code, this->details(), this->nodes())});
}

Error::~Error() = default;

}  // namespace v1
}  // namespace redlock
