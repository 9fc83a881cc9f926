#include "chaos/judge/trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "redlock/clock.hpp"

namespace redlock::chaos {
namespace {

constexpr std::array<std::string_view, 11> names{"begin", "call", "hold", "extend", "alive", "end",
                                                 "lost",  "fail", "open", "fault",  "healed"};

}  // namespace

Instant now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

std::string_view name_of(Entry::What what) { return names[static_cast<std::size_t>(what)]; }

Log::Log(const std::string& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
  if (file_ < 0) throw std::system_error{errno, std::generic_category(), path};
}
Log::~Log() { ::close(file_); }

void Log::add(Instant at, Entry::What what, std::uint64_t number, std::string_view words) {
  std::string line = std::to_string(at) + ' ';
  line.append(name_of(what)).append(" ").append(std::to_string(number));
  if (!words.empty()) line.append(" ").append(words);
  line += '\n';
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error{errno, std::generic_category(), "a log"};
}

std::vector<Entry> read_log(const std::string& path, int client) {
  std::ifstream file{path};
  std::vector<Entry> entries;
  std::uint64_t life = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    std::istringstream text{line};
    Entry entry;
    entry.client = client;
    std::string what;
    const bool is_whole = static_cast<bool>(text >> entry.at >> what >> entry.number);
    const auto* const name = std::ranges::find(names, what);
    if (!is_whole || name == names.end())
      throw std::runtime_error{std::string{path}.append(" has the line: ").append(line)};
    entry.what = static_cast<Entry::What>(name - names.begin());
    for (std::string word; text >> word;) entry.words.push_back(word);
    if (entry.what == Entry::What::begin) ++life;
    entry.life = life;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace redlock::chaos
