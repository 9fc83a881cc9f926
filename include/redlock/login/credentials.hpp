// How to log in at a node, and where that is read.
#pragma once

#include <functional>
#include <string>

#include "redlock/export.hpp"
#include "redlock/login/secret.hpp"

namespace redlock {
inline namespace v1 {

class Endpoint;

/// A user and a password.
struct Credentials {
  std::string user = {};  ///< Empty for the default user.
  Secret password = {};   ///< Any bytes; empty for none.

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

/// Returns how to log in at a node: see `Options::credentials`.
using CredentialsSource = std::function<Credentials(const Endpoint& node)>;

/// Returns a source that reads the password from a file, each time anew, so a password may be replaced there. The user is
/// that of the endpoint. An endpoint with a password keeps its own. A line end at the end of the file is not part of the
/// password.
///
/// In the path, `{host}` stands for the node's host and `{port}` for its port, so that each node has a password of its own, as in
/// `/run/secrets/{host}`.
///
/// The source blocks while it reads. It throws `Error` (invalid_argument) if the file is missing, cannot be read, is not a
/// regular one, is empty or has more than 64 KiB, or if its path has a `{host}` or `{port}` and the node is a unix socket. It does not look at who else may read the file: secrets that Docker and
/// Kubernetes mount are readable by all users of the container. Any thread may call it.
[[nodiscard]] REDLOCK_EXPORT CredentialsSource password_file(std::string path);

}  // namespace v1
}  // namespace redlock
