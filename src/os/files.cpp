#include "os/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>

#include "os/descriptor.hpp"
#include "os/random.hpp"
#include "os/system_error.hpp"

namespace redlock::inline v1::detail {
namespace {

void write_all(const Descriptor& file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written >= 0)
      content.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      throw_errno(path);
  }
}

/// Removes the temporary file on destruction, unless it was renamed.
struct Draft {
  std::string path;
  bool is_gone = false;
  ~Draft() {
    if (!is_gone) ::unlink(path.c_str());
  }
};

}  // namespace

void replace_file(const std::string& path, std::string_view content) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    throw std::system_error{EINVAL, std::system_category(),
                            path + " is no regular file, and is not replaced"};
  const std::string draft_path = path + '.' + random_owner_value().substr(0, 16);
  const Descriptor file{::open(draft_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!file) throw_errno(path);
  Draft draft{draft_path};
  write_all(file, content, path);
  if (std::rename(draft_path.c_str(), path.c_str()) != 0) throw_errno(path);
  draft.is_gone = true;
}

namespace {

std::optional<FileContent> read_opened(const std::string& path, const Descriptor& file, bool is_any_kind) {
  constexpr std::size_t most_bytes = 64 * 1024;
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0) throw_errno(path);
  if (!is_any_kind && !S_ISREG(about.st_mode)) return FileContent{.is_regular = false};
  WipedBytes bytes(most_bytes + 1);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most_bytes)
    throw std::system_error{EFBIG, std::system_category(), path + " has more than 64 KiB"};
  return FileContent{.text = std::string_view{bytes.data(), size},
                     .is_public = (about.st_mode & S_IROTH) != 0};
}

}  // namespace

std::optional<FileContent> read_file(const std::string& path) {
  return read_opened(path, Descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, true);
}

std::optional<FileContent> read_regular_file(const std::string& path) {
  return read_opened(path, Descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}, false);
}

}  // namespace redlock::inline v1::detail
