// Which part of the code may include which, and how large a part may grow. The checker enforces it.
#pragma once

#include <string>
#include <vector>

namespace redlock::layers {

/// A folder of code, or some files of a folder. Files of one room may include each other.
struct Room {
  std::string name;
  /// Folders, without their subfolders, and files. A file that is listed does not belong to its folder's room.
  std::vector<std::string> places;
  /// The names of the rooms whose files it may include. They stand before it in the list of rooms.
  std::vector<std::string> may_include;
};

/// A header that is not the project's own, and that only some places may include.
struct ReservedHeader {
  std::string name;                 ///< The whole name, or a folder with a slash at the end.
  std::vector<std::string> places;  ///< Folders, with their subfolders.
};

struct Rules {
  /// Bottom-up.
  std::vector<Room> rooms;
  std::vector<ReservedHeader> reserved;
  /// A folder that does no I/O and starts no thread: it includes none of the `impure` headers, and no header
  /// with a slash or a dot in its name, as those of the system have.
  std::string pure;
  std::vector<std::string> impure;
  /// At or below these, each folder has at most `folder_files` headers and source files.
  std::vector<std::string> roots;
  /// Includes, headers and functions are checked at or below these.
  std::vector<std::string> product;
  std::vector<std::string> include_directories;
  int folder_files = 15;
  int header_lines = 300;
  int function_lines = 60;
};

/// The rules of this project.
inline const Rules& house_rules() {
  static const Rules rules{
      .rooms =
          {
              // Numbers, times and enums, which everything may use.
              {"values",
               {"include/redlock/clock.hpp", "include/redlock/duration.hpp", "include/redlock/export.hpp",
                "include/redlock/fencing_token.hpp", "include/redlock/login", "include/redlock/status.hpp"},
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
              {"core/line",
               {"include/redlock/core/line"},
               {"values", "core/base", "core/wire", "core/operation"}},
              {"core/lock",
               {"include/redlock/core/lock"},
               {"values", "observer", "core/base", "core/wire", "core/operation", "core/line"}},
              {"core/watch",
               {"include/redlock/core/watch"},
               {"values", "core/base", "core/wire", "core/operation", "core/node"}},
              {"core/lease",
               {"include/redlock/core/lease"},
               {"values", "observer", "core/base", "core/wire", "core/operation", "core/lock", "core/watch"}},
              {"core/restart_guard",
               {"include/redlock/core/restart_guard"},
               {"values", "core/base", "core/wire", "core/operation"}},
              {"core/engine",
               {"include/redlock/core/engine"},
               {"values", "observer", "core/base", "core/wire", "core/operation", "core/node", "core/watch",
                "core/line", "core/lease", "core/restart_guard"}},

              // What users include.
              {"public",
               {"include/redlock", "include/redlock/fencing", "include/redlock/kinds",
                "include/redlock/metrics", "include/redlock/testing"},
               {"values", "errors", "observer"}},

              // The shell does it: sockets, timers and threads.
              {"os", {"src/os"}, {"values", "core/base"}},
              {"src/values",
               {"src/values", "src/values/endpoint"},
               {"values", "errors", "observer", "public", "core/base", "core/wire", "os"}},
              {"io",
               {"src/io", "src/io/sockets", "src/io/threads", "src/io/tls"},
               {"values", "errors", "observer", "public", "core/base", "core/wire", "core/engine", "os"}},
              {"notify", {"src/notify"}, {"values", "observer", "core/base", "core/lease", "os"}},
              {"metrics", {"src/metrics"}, {"values", "errors", "observer", "public", "core/base", "os"}},
              {"api",
               {"src/api", "src/api/kinds"},
               {"values", "errors", "observer", "public", "core/base", "core/operation", "core/node",
                "core/line", "core/lock", "core/watch", "core/lease", "core/restart_guard", "os", "io",
                "notify"}},
              // The same client with nodes and a clock in memory.
              {"fake",
               {"src/fake"},
               {"public", "core/base", "core/wire", "core/line", "core/lease", "core/engine", "notify",
                "api"}},

              // Beside the library: servers for tests, and the command.
              {"testing", {"src/testing"}, {"public", "core/base"}},
              {"tool/probe",
               {"src/tool/probe"},
               {"values", "errors", "public", "core/base", "core/wire", "os", "io"}},
              {"tool",
               {"src/tool", "src/tool/acl", "src/tool/check", "src/tool/command_line", "src/tool/election",
                "src/tool/locks", "src/tool/nodes", "src/tool/run", "src/tool/semaphore", "src/tool/watch"},
               {"values", "errors", "observer", "public", "core/base", "core/wire", "os", "src/values",
                "tool/probe"}},
          },
      .reserved = {{"hiredis/", {"src/io"}}, {"openssl/", {"src/io/tls"}}},
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
