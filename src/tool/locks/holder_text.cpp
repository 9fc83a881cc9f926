#include "tool/locks/holder_text.hpp"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "redlock/core/base/printable.hpp"

namespace redlock::tool {

std::string holder_text(const std::string& owner_value) {
  const Holder holder{owner_value};
  if (holder.since) return core::printable(owner_value.substr(0, 8) + ' ' + holder.label);
  std::ostringstream text;
  text << holder;
  return text.str();
}

std::string number_of_readers(std::size_t number) {
  if (number == 0) return "readers";
  return std::to_string(number) + (number == 1 ? " reader" : " readers");
}

std::string names_of(std::span<const Holder> holders) {
  std::string text;
  for (const Holder& holder : holders)
    text.append(text.empty() ? "" : ", ").append(holder_text(holder.owner_value));
  return text;
}

std::string readers_text(std::span<const NodeReport> reports) {
  const std::vector<Holder> named = readers_in(reports);
  const std::size_t count = std::max(named.size(), reader_count_in(reports));
  std::string text = number_of_readers(count);
  if (!named.empty()) text += ": " + names_of(named);
  if (!named.empty() && count > named.size())
    text += ", and " + std::to_string(count - named.size()) + " more";
  return text;
}

std::string utc_text(std::chrono::sys_seconds time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, "%F %T");
  return text.str();
}

std::string time_column(std::chrono::system_clock::time_point when) {
  return utc_text(std::chrono::floor<std::chrono::seconds>(when)) + " UTC  ";
}

void add_holder(nlohmann::json& to, const std::string& owner_value) {
  const Holder holder{owner_value};
  if (holder.is_kept() || holder.is_shared()) return;
  to["owner"] = owner_value;
  if (!holder.since) return;
  to["label"] = holder.label;
  to["since"] = holder.since->time_since_epoch().count();
}

void add_readers(nlohmann::json& to, std::span<const Holder> readers, std::size_t count) {
  nlohmann::json& all = to["readers"] = nlohmann::json::array();
  for (const Holder& reader : readers) add_holder(all.emplace_back(), reader.owner_value);
  to["reader_count"] = std::max(readers.size(), count);
}
void add_readers(nlohmann::json& to, std::span<const NodeReport> reports) {
  add_readers(to, readers_in(reports), reader_count_in(reports));
}

std::string json_text(const nlohmann::json& json, int indentation) {
  return json.dump(indentation, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace redlock::tool
