// Small files, read and replaced as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "redlock/login/secret.hpp"

namespace redlock::inline v1::detail {

/// Replaces the file at once: a reader finds either the old content or all of the new. The content is first written to
/// a temporary file in the same directory, whose name is the path with a dot and a random suffix. The umask determines
/// who may read the file. On failure throws std::system_error and leaves the old file as it was.
void replace_file(const std::string& path, std::string_view content);

struct FileContent {
  Secret text{};
  bool is_public = false;  // every user of the machine may read it
  bool is_regular = true;
};

/// Returns none if there is no such file. Throws std::system_error for any other failure, and if the file has more than
/// 64 KiB. Blocks while it is a pipe that nobody writes to.
[[nodiscard]] std::optional<FileContent> read_file(const std::string& path);
/// The same for a file that is read again and again. Does not block on a pipe: of what is no regular file, the text is empty.
[[nodiscard]] std::optional<FileContent> read_regular_file(const std::string& path);

}  // namespace redlock::inline v1::detail
