#include "redlock/error.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock {
inline namespace v1 {
namespace {

std::string describe(Errc code, const std::string& details, const std::vector<NodeReport>& nodes) {
  std::ostringstream text;
  text << make_error_code(code).message();
  if (!details.empty()) text << ": " << details;
  for (const auto& node : nodes) text << "\n  " << node;
  return text.str();
}

}  // namespace

Error::Error(Errc code, const std::string& details, std::vector<NodeReport> nodes)
    : std::system_error{make_error_code(code)}, nodes_{std::move(nodes)} {
  // system_error would put the code's meaning last, behind the lines of the nodes. Its base keeps the text.
  std::runtime_error::operator=(std::runtime_error{describe(code, details, nodes_)});
}

Error::~Error() = default;

}  // namespace v1
}  // namespace redlock
