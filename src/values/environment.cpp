#include "values/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/files.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"
#include "redlock/login/credentials.hpp"
#include "values/endpoint/tls_settings.hpp"
#include "values/time_text.hpp"

namespace redlock::inline v1 {
namespace detail {
namespace {

/// The value without blanks around it; none if it is not set or blank. Makes no copy of the value, which may contain
/// passwords.
std::optional<std::string> word(const Variables& variables, const char* name) {
  std::optional<std::string> value = variables(name);
  if (!value) return value;
  constexpr const char* blank = " \t\r\n";
  value->erase(value->find_last_not_of(blank) + 1);
  value->erase(0, value->find_first_not_of(blank));
  if (value->empty()) value.reset();
  return value;
}

/// Escapes the text, which may contain a path from a variable.
[[noreturn]] void reject(const std::string& why) {
  throw Error{Errc::invalid_argument, core::printable(why, why.size())};
}

/// `source`: where the list is from, for messages.
std::vector<Endpoint> parse_list(const std::string& source, std::string_view text) try {
  return Endpoint::list(text);
} catch (const Error& error) {
  reject(source + ": " + error.details());
}

/// Returns none if there is no such file, or if it `is_optional` and this process may not look into its folder.
std::optional<FileContent> read(const std::string& path, bool is_optional = false) try {
  return read_file(path);
} catch (const std::system_error& error) {
  std::error_code unseen;
  const bool is_hidden =
      error.code() == std::errc::permission_denied && !std::filesystem::exists(path, unseen);
  if (is_optional && is_hidden) return std::nullopt;
  reject("cannot read the nodes: " + std::string{error.what()});
}

std::vector<Endpoint> nodes_in(const FileContent& file, const std::string& path) {
  std::vector<Endpoint> nodes = parse_list(path, file.text.text());
  const auto has_password = [](const Endpoint& node) { return !node.password().empty(); };
  if (file.is_public && std::ranges::any_of(nodes, has_password))
    reject(path + " contains a password, but every user may read it; run: chmod o-r " + path);
  return nodes;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  reject("the password file " + path + ' ' + why);
}

Secret read_password(const std::string& path) {
  std::optional<FileContent> file;
  try {
    file = read_regular_file(path);
  } catch (const std::system_error& error) {
    refuse(path, "cannot be read: " + std::string{error.what()});
  }
  if (!file) refuse(path, "is missing");
  if (!file->is_regular) refuse(path, "is not a regular file, which can be read again and again");
  std::string_view text = file->text.text();
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) refuse(path, "is empty");
  return text;
}

/// The path with the host and the port of the node.
std::string path_for(const Endpoint& node, std::string path) {
  for (const auto& [place, text] : {std::pair{std::string_view{"{host}"}, node.host()},
                                    std::pair{std::string_view{"{port}"}, std::to_string(node.port())}}) {
    for (std::size_t at = 0; (at = path.find(place, at)) != std::string::npos; at += text.size()) {
      if (node.transport() == Endpoint::Transport::unix_socket)
        refuse(path, "cannot be that of " + node.to_string() + ", which has no host and port");
      path.replace(at, place.size(), text);
    }
  }
  return path;
}

RestartGuard parse_guard(const std::string& name) {
  for (const RestartGuard guard : {RestartGuard::automatic, RestartGuard::strict, RestartGuard::off})
    if (name == to_string(guard)) return guard;
  reject("REDLOCK_RESTART_GUARD is " + core::printable(name) + "; allowed: automatic, strict, off");
}

bool parse_switch(const std::string& name, const std::string& value) {
  if (value == "1" || value == "0") return value == "1";
  reject(name + " is " + core::printable(value) + "; allowed: 1, 0");
}

Duration parse_max_ttl(const std::string& text) try {
  return parse_time(text);
} catch (const std::invalid_argument& error) {
  reject("REDLOCK_MAX_TTL: " + std::string{error.what()});
}

void read_tls(const Variables& variables, TlsOptions& tls) {
  for (const TlsSetting& setting : tls_settings()) {
    const std::string name{setting.variable};
    const auto value = word(variables, name.c_str());
    const std::string_view allowed = value ? setting.set(tls, *value) : std::string_view{};
    if (!allowed.empty())
      reject(name + " is " + core::printable(*value) + "; allowed: " + std::string{allowed});
  }
}

}  // namespace

std::optional<std::string> process_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? std::optional<std::string>{value} : std::nullopt;
}

std::vector<Endpoint> nodes_in_file(const std::string& path) {
  const std::optional<FileContent> file = read(path);
  if (!file) reject("cannot read the nodes: there is no file " + path);
  std::vector<Endpoint> nodes = nodes_in(*file, path);
  if (nodes.empty()) reject("the file " + path + " names no node: write one per line to it");
  return nodes;
}

std::vector<Endpoint> nodes_of(const Variables& variables) {
  if (auto list = word(variables, "REDLOCK_NODES"))
    return parse_list("REDLOCK_NODES", Secret{std::move(*list)}.text());
  if (const auto path = word(variables, "REDLOCK_NODES_FILE")) return nodes_in_file(*path);
  std::vector<std::string> places{"/etc/redlock/nodes"};
  if (const auto home = word(variables, "HOME"))
    places.insert(places.begin(), *home + "/.config/redlock/nodes");
  for (const std::string& path : places) {
    const std::optional<FileContent> file = read(path, true);
    if (!file) continue;
    if (std::vector<Endpoint> nodes = nodes_in(*file, path); !nodes.empty()) return nodes;
  }
  return {};
}

Options options_of(const Variables& variables, Options options) {
  if (const auto name = word(variables, "REDLOCK_RESTART_GUARD")) options.restart_guard = parse_guard(*name);
  if (const auto value = word(variables, "REDLOCK_DURABLE_NODES"))
    options.durable_nodes = parse_switch("REDLOCK_DURABLE_NODES", *value);
  if (const auto text = word(variables, "REDLOCK_MAX_TTL")) options.max_ttl = parse_max_ttl(*text);
  if (auto prefix = variables("REDLOCK_KEY_PREFIX").value_or(""); !prefix.empty())
    options.key_prefix = std::move(prefix);
  if (auto path = word(variables, "REDLOCK_PASSWORD_FILE"))
    options.credentials = password_file(std::move(*path));
  read_tls(variables, options.tls);
  return options;
}

}  // namespace detail

Configuration Configuration::from_environment(Options options, const Variables& variables) {
  const Variables& lookup = variables ? variables : Variables{detail::process_variable};
  return {detail::nodes_of(lookup), detail::options_of(lookup, std::move(options))};
}

CredentialsSource password_file(std::string path) {
  return [path = std::move(path)](const Endpoint& node) {
    if (!node.password().empty()) return Credentials{node.user(), node.password()};
    return Credentials{node.user(), detail::read_password(detail::path_for(node, path))};
  };
}

}  // namespace redlock::inline v1
