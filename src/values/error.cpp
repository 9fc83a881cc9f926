#include "redlock/error.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock {
inline namespace v1 {
namespace {

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "redlock"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
        return "held: somebody else has the lock";
      case Errc::timed_out:
        return "timed out: the lock was still held when the time was over";
      case Errc::no_quorum:
        return "no quorum: fewer than a majority of the nodes voted";
      case Errc::too_slow:
        return "too slow: a majority granted, but the validity was already used up";
      case Errc::lost:
        return "lost: the lease is gone";
      case Errc::cancelled:
        return "cancelled: stop was requested";
      case Errc::misconfigured:
        return "misconfigured (the program or a server)";
    }
    return "not an error of redlock: " + std::to_string(value);
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
        return std::errc::device_or_resource_busy;
      case Errc::timed_out:
        return std::errc::timed_out;
      case Errc::cancelled:
        return std::errc::operation_canceled;
      case Errc::misconfigured:
        return std::errc::invalid_argument;
      case Errc::no_quorum:
      case Errc::too_slow:
      case Errc::lost:
        break;  // nothing in std::errc asks the caller to do what these ask
    }
    return {value, *this};
  }
};

std::string describe(Errc code, const std::string& details, const std::vector<NodeReport>& nodes) {
  std::ostringstream text;
  text << make_error_code(code).message();
  if (!details.empty()) text << ": " << details;
  for (const auto& node : nodes) text << "\n  " << node;
  return text.str();
}

}  // namespace

const std::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), category()}; }

Error::Error(Errc code, const std::string& details, std::vector<NodeReport> nodes)
    : std::system_error{make_error_code(code)}, nodes_{std::move(nodes)} {
  // system_error would put the code's meaning last, behind the lines of the nodes. Its base keeps the text.
  std::runtime_error::operator=(std::runtime_error{describe(code, details, nodes_)});
}

Error::~Error() = default;

}  // namespace v1
}  // namespace redlock
