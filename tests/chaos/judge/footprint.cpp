#include "chaos/judge/footprint.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

namespace redlock::chaos {
namespace {

/// The number behind "RssAnon:"; 0 for a process that has just ended.
std::int64_t memory_of(const std::filesystem::path& process) {
  std::ifstream status{process / "status"};
  for (std::string word; status >> word;)
    if (std::int64_t kibibytes = 0; word == "RssAnon:" && status >> kibibytes) return kibibytes;
  return 0;
}

Footprint median_of(std::span<const Footprint> seen) {
  if (seen.empty()) return {};
  const auto median = [seen](auto member) {
    std::vector<std::remove_cvref_t<decltype(seen.front().*member)>> all;
    for (const Footprint& each : seen) all.push_back(each.*member);
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    return all[all.size() / 2];
  };
  return {.at = median(&Footprint::at),
          .memory = median(&Footprint::memory),
          .descriptors = median(&Footprint::descriptors)};
}

}  // namespace

std::optional<Footprint> footprint_of(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  std::error_code gone;
  const std::filesystem::directory_iterator open{folder / "fd", gone};
  const std::int64_t memory = memory_of(folder);
  if (gone || memory == 0) return std::nullopt;
  return Footprint{
      .at = now(), .memory = memory, .descriptors = static_cast<int>(std::distance(begin(open), end(open)))};
}

Growth growth_of(const std::vector<Footprint>& seen) {
  const std::span<const Footprint> all{seen};
  const std::size_t quarter = all.size() / 4;
  return {.early = median_of(all.subspan(quarter, quarter)), .late = median_of(all.last(quarter))};
}

std::string text_of(const Growth& growth) {
  return "memory " + std::to_string(growth.early.memory) + " KiB, then " +
         std::to_string(growth.late.memory) + " KiB; descriptors " +
         std::to_string(growth.early.descriptors) + ", then " + std::to_string(growth.late.descriptors);
}

bool has_leaked(const Growth& growth) {
  constexpr std::int64_t most_memory = 512;
  constexpr int most_descriptors = 4;
  return growth.late.memory > growth.early.memory + most_memory ||
         growth.late.descriptors > growth.early.descriptors + most_descriptors;
}

}  // namespace redlock::chaos
