// Writing a file that others read.
#pragma once

#include <string>
#include <string_view>

namespace redlock::inline v1::detail {

/// Whoever opens the path finds what was there before, or all of this. Written beside it first, to a name that begins with
/// the path's and a dot. Readable for whom the umask allows. Throws std::system_error, and leaves everything as it was.
void replace_file(const std::string& path, std::string_view content);

}  // namespace redlock::inline v1::detail
