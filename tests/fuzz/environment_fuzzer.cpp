// Any variables REDLOCK_*, and any text of the file that they name, give options within their ranges or a refusal that
// says why. No refusal shows a password. Input: lines NAME=VALUE, an empty line, and the text of the file.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fuzz/finding.hpp"
#include "redlock/error.hpp"
#include "redlock/login/credentials.hpp"
#include "redlock/options.hpp"
#include "values/time_text.hpp"

namespace {

using namespace redlock::testing;
using redlock::Configuration;

constexpr std::string_view secret = "hunter2";  // the password of the corpus and of the dictionary

/// A file without a name in any folder, which only this user may read.
class File {
 public:
  explicit File(std::string_view text) : descriptor_{::memfd_create("fuzz", MFD_CLOEXEC)} {
    must(descriptor_ >= 0 && ::fchmod(descriptor_, 0600) == 0, "the file can be made");
    must(::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
         "the file can be written");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  return line;
}

void check_time(std::string_view text) try {
  const auto time = redlock::detail::parse_time(text);
  must(time >= time.zero() && time <= std::chrono::hours{365 * 24}, "a time is between zero and 365 days");
} catch (const std::invalid_argument& refusal) {
  must(is_printable(refusal.what()), "the refusal of a time is printable");
  must(std::string_view{refusal.what()}.find("allowed: ") != std::string_view::npos,
       "it says what is allowed");
}

void check(const redlock::Error& refusal, bool may_repeat_value) {
  const std::string_view message = refusal.what();
  must(refusal.code() == redlock::Errc::invalid_argument, "refused variables are a misconfiguration");
  must(is_printable(message), "a refusal is printable");
  must(may_repeat_value || message.find(secret) == message.npos, "a refusal does not repeat the password");
  must(refusal.nodes().empty(), "no node was asked");
}

void check(const Configuration& read, std::string_view file) {
  must(read.options.max_ttl >= redlock::Duration{} && read.options.max_ttl <= std::chrono::hours{365 * 24},
       "the longest ttl is between zero and 365 days");
  if (!read.options.credentials) return;
  const redlock::Credentials login = read.options.credentials(redlock::Endpoint{"redis://app:@h"});
  must(login.user == "app" && !login.password.text().empty() && file.starts_with(login.password.text()),
       "the password is the text of the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  std::map<std::string, std::string, std::less<>> variables;
  bool is_marked = false;  // a value that is not secret has the mark
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    const std::string_view name = line.substr(0, line.find('='));
    const std::string_view value = line.substr(name.size() == line.size() ? name.size() : name.size() + 1);
    check_time(value);
    is_marked |= name != "REDLOCK_NODES" && value.find(secret) != value.npos;
    variables.insert_or_assign(std::string{name}, std::string{value});
  }
  const File file{rest};
  const auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "HOME") return std::nullopt;
    if (name == "REDLOCK_NODES_FILE") return file.path();  // so no file of this machine is read
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return name == "REDLOCK_PASSWORD_FILE" ? file.path() : found->second;
  };
  try {
    check(Configuration::from_environment({}, lookup), rest);
  } catch (const redlock::Error& refusal) {
    check(refusal, is_marked);
  }
  return 0;
}
