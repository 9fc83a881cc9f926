#include "tool/watch/close_descriptors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace redlock::tool {

void close_descriptors_from(int first) noexcept {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) != 0) close_each_descriptor_from(first);
}

void close_each_descriptor_from(int first) noexcept {
  // Not opendir(), which allocates memory.
  const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    constexpr int most = 65536;  // the limit of this process may be a billion
    for (int each = first; each < most; ++each) ::close(each);
    return;
  }
  alignas(dirent64) char entries[4096];
  for (ssize_t size = 0; (size = ::getdents64(folder, entries, sizeof entries)) > 0;)
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      const int each = std::atoi(entry->d_name);  // 0 for . and ..
      if (each >= first && each != folder) ::close(each);
      at += entry->d_reclen;
    }
  if (folder >= first) ::close(folder);
}

}  // namespace redlock::tool
