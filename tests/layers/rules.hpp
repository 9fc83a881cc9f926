// Which part of the code may include which, and how large a part may grow. The checker enforces it.
#pragma once

#include <string>
#include <vector>

namespace redlock::layers {

/// A folder of code (without its subfolders) or some files of one, which stand on one layer.
struct Room {
  std::string name;
  std::vector<std::string>
      places;  // folders and files; the room of a file is the one that names it most exactly
  std::vector<std::string> may_include;  // names of rooms further up in the list, which is ordered bottom-up
};

/// A header that is not the project's own: `name` is its whole name, or its folder with a slash at the end.
struct ForeignHeader {
  std::string name;
  std::vector<std::string> places;  // the folders that may include it, with their subfolders
};

struct Rules {
  std::vector<Room> rooms;
  std::vector<ForeignHeader> reserved;  // headers that only some places may include
  std::string pure;                     // a folder that does no I/O, and starts no thread
  std::vector<std::string>
      impure;  // standard headers that it must not include; nor any header with a slash or `.h`
  std::vector<std::string> roots;    // the folders in which at most `folder_files` files lie in each folder
  std::vector<std::string> product;  // the folders whose headers and functions are measured
  std::vector<std::string> include_directories;
  int folder_files = 15;
  int header_lines = 300;
  int function_lines = 60;
};

/// The rules of this project. Files of one room may include each other.
inline const Rules& house_rules() {
  static const Rules rules{
      .rooms =
          {
              // Numbers, times and enums, which everything may use.
              {"values",
               {"include/redlock/clock.hpp", "include/redlock/duration.hpp", "include/redlock/export.hpp",
                "include/redlock/fencing_token.hpp", "include/redlock/status.hpp",
                "include/redlock/version.hpp"},
               {}},
              {"errors", {"include/redlock/error.hpp", "include/redlock/node_report.hpp"}, {"values"}},
              // What users implement, and the core calls.
              {"observer", {"include/redlock/metrics/observer.hpp"}, {"values", "errors"}},

              // The core decides what to do next.
              {"core/base", {"include/redlock/core/base"}, {"values"}},
              {"core/wire", {"include/redlock/core/wire"}, {"values", "core/base"}},
              {"core/operation", {"include/redlock/core/operation"}, {"values", "core/base", "core/wire"}},
              {"core/node",
               {"include/redlock/core/node"},
               {"values", "core/base", "core/wire", "core/operation"}},
              {"core/lock",
               {"include/redlock/core/lock"},
               {"values", "observer", "core/base", "core/wire", "core/operation"}},
              {"core/lease",
               {"include/redlock/core/lease"},
               {"values", "observer", "core/base", "core/wire", "core/operation", "core/node", "core/lock"}},
              {"core/restart_guard",
               {"include/redlock/core/restart_guard"},
               {"values", "core/base", "core/wire", "core/operation"}},
              {"core/engine",
               {"include/redlock/core/engine"},
               {"values", "observer", "core/base", "core/wire", "core/operation", "core/node", "core/lease",
                "core/restart_guard"}},

              // What users include.
              {"public",
               {"include/redlock", "include/redlock/fencing", "include/redlock/metrics",
                "include/redlock/testing"},
               {"values", "errors", "observer"}},

              // The shell does it: sockets, timers and threads.
              {"os", {"src/os"}, {"values", "core/base"}},
              {"src/values",
               {"src/values"},
               {"values", "errors", "observer", "public", "core/base", "core/wire"}},
              {"io",
               {"src/io"},
               {"values", "errors", "observer", "public", "core/base", "core/wire", "core/engine", "os"}},
              {"notify", {"src/notify"}, {"values", "observer", "core/lease", "os"}},
              {"metrics", {"src/metrics"}, {"values", "errors", "observer", "public", "os"}},
              {"api",
               {"src/api"},
               {"values", "errors", "observer", "public", "core/lock", "core/lease", "os", "io", "notify"}},

              // Beside the library: servers for tests, and the command.
              {"testing", {"src/testing"}, {"public", "core/base"}},
              {"tool",
               {"src/tool", "src/tool/run"},
               {"values", "errors", "observer", "public", "core/base", "os", "src/values"}},
          },
      .reserved = {{"hiredis/", {"src/io"}}},
      .pure = "include/redlock/core",
      .impure = {"condition_variable", "ctime", "filesystem", "fstream", "future", "iostream", "mutex",
                 "random", "semaphore", "shared_mutex", "thread"},
      .roots = {"include", "src", "tests", "examples"},
      .product = {"include", "src"},
      .include_directories = {"include", "src"},
  };
  return rules;
}

}  // namespace redlock::layers
