// Makes replies of servers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "redlock/core/wire/reply.hpp"

namespace redlock::inline v1::detail {

[[nodiscard]] inline core::Reply integer(long long value) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::integer;
  reply.integer = value;
  return reply;
}

[[nodiscard]] inline core::Reply text(core::Reply::Kind kind, std::string words) {
  core::Reply reply;
  reply.kind = kind;
  reply.text = std::move(words);
  return reply;
}
[[nodiscard]] inline core::Reply string(std::string value) {
  return text(core::Reply::Kind::string, std::move(value));
}
[[nodiscard]] inline core::Reply status(std::string words) {
  return text(core::Reply::Kind::status, std::move(words));
}
[[nodiscard]] inline core::Reply error(std::string words) {
  return text(core::Reply::Kind::error, std::move(words));
}

[[nodiscard]] inline core::Reply array(std::vector<core::Reply> elements) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::array;
  reply.elements = std::move(elements);
  return reply;
}

}  // namespace redlock::inline v1::detail
