#include "tool/command_line/credentials.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

namespace redlock::tool {
namespace {

struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Where a text has the user and the password of a URL. A path may have another @ behind them: then the place is larger.
std::optional<Place> find_credentials(std::string_view text) noexcept {
  const std::size_t scheme = text.find("://");
  const std::size_t end = text.rfind('@');
  if (scheme == text.npos || end == text.npos || end <= scheme + 3) return std::nullopt;
  return Place{scheme + 3, end};
}

std::string placeholder(std::size_t number) { return '*' + std::to_string(number) + '*'; }

const Secret* login_of(std::string_view text, const std::vector<Secret>& logins) {
  for (std::size_t number = 0; number < logins.size(); ++number)
    if (text == placeholder(number)) return &logins[number];
  return nullptr;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Where a word has what looks like `--name=value`, `user:password@` or `password=…`.
std::optional<Place> find_slip(std::string_view word) noexcept {
  const std::size_t option = word.find("--");
  const std::size_t value = option == word.npos ? word.npos : word.find('=', option);
  if (value != word.npos) return Place{value + 1, word.size()};
  const std::size_t at = word.rfind('@');
  const std::size_t scheme = word.find("://");
  const bool has_scheme = scheme != word.npos && scheme == word.find(':') && scheme < word.find('@');
  const std::size_t begin = has_scheme ? scheme + 3 : 0;
  if (at != word.npos && begin < at && word.find(':') < at) return Place{begin, at};
  constexpr std::string_view name = "password=";
  const std::size_t parameter = word.find(name);
  if (parameter == word.npos || parameter + name.size() == word.size()) return std::nullopt;
  return Place{parameter + name.size(), word.size()};
}

std::string without(std::string text, const std::optional<Place>& place) {
  if (place) text.replace(place->begin, place->end - place->begin, "***");
  return text;
}

}  // namespace

CommandLine take_command_line(int argc, char** argv) {
  CommandLine line;
  bool is_own = true;  // the words behind "--" are those of another command
  for (int at = 1; at < argc; ++at) {
    const std::string_view word{argv[at]};
    is_own = is_own && word != "--";
    const bool is_node =
        is_own && (std::string_view{argv[at - 1]} == "--node" || word.starts_with("--node="));
    const auto place = is_node ? find_credentials(word) : std::nullopt;
    if (!place) {
      line.words.emplace_back(word);
      continue;
    }
    line.words.push_back(std::string{word.substr(0, place->begin)} + placeholder(line.logins.size()) +
                         std::string{word.substr(place->end)});
    line.logins.emplace_back(word.substr(place->begin, place->end - place->begin));
    std::fill(argv[at] + place->begin, argv[at] + place->end, '*');
  }
  return line;
}

Endpoint node_at(std::string_view url, const std::vector<Secret>& logins) {
  const auto place = find_credentials(url);
  const Secret* const login =
      place ? login_of(url.substr(place->begin, place->end - place->begin), logins) : nullptr;
  if (!login) return Endpoint{url};
  detail::WipedBytes whole;
  whole.reserve(url.size() + login->text().size());
  for (const std::string_view part : {url.substr(0, place->begin), login->text(), url.substr(place->end)})
    whole.insert(whole.end(), part.begin(), part.end());
  return Endpoint{std::string_view{whole.data(), whole.size()}};
}

std::string option_name(std::string_view word) {
  if (!word.starts_with("--")) return std::string{word.substr(0, 2)};
  const auto is_of_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
  return {word.begin(), std::ranges::find_if_not(word, is_of_name)};
}

std::string without_credentials(std::string text) {
  const std::optional<Place> place = find_credentials(text);
  text = without(std::move(text), place);
  std::string shown;
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if(at, text.end(), is_blank);
    const std::string word{at, end};
    shown += without(word, find_slip(word));
    at = std::find_if_not(end, text.end(), is_blank);
    shown.append(end, at);
  }
  return shown;
}

}  // namespace redlock::tool
