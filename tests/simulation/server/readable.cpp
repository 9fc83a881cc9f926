#include "simulation/server/readable.hpp"

#include "redlock/core/base/hex.hpp"

namespace redlock::simulation {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out.append("\\").append(1, c);
    else if (c == '\n' || c == '\r')
      out += c == '\n' ? "\\n" : "\\r";
    else if (byte >= 0x20 && byte < 0x7F)
      out += c;
    else
      core::append_hex(out += "\\x", byte);
  }
  return out + "\"";
}

}  // namespace

std::string readable(const core::Reply& reply) {
  switch (reply.kind) {
    case core::Reply::Kind::nil:
      return "(nil)";
    case core::Reply::Kind::integer:
      return std::to_string(reply.integer);
    case core::Reply::Kind::string:
      return quoted(reply.text);
    case core::Reply::Kind::status:
      return "+" + quoted(reply.text);
    case core::Reply::Kind::error:
      return "-" + quoted(reply.text);
    case core::Reply::Kind::array:
      break;
  }
  std::string out = "[";
  for (const core::Reply& element : reply.elements) out += (out.size() > 1 ? ", " : "") + readable(element);
  return out + "]";
}

std::string readable(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

}  // namespace redlock::simulation
