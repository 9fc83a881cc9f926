// Atomically replaces a file.
#pragma once

#include <string>
#include <string_view>

namespace redlock::inline v1::detail {

/// Replaces the file at once: a reader finds either the old content or all of the new. The content is first written to
/// a temporary file in the same directory, whose name is the path with a dot and a random suffix. The umask determines
/// who may read the file. On failure throws std::system_error and leaves the old file as it was.
void replace_file(const std::string& path, std::string_view content);

}  // namespace redlock::inline v1::detail
