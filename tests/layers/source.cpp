#include "layers/source.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace redlock::layers {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// With a space instead of each run of white space.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (!is_space(c))
      line += c;
    else if (line.empty() || line.back() != ' ')
      line += ' ';
  return line;
}

int line_at(const std::string& text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Walks over the text once and blanks what is not code.
class Blanking {
 public:
  explicit Blanking(std::string text) : text_{std::move(text)} {}

  std::string result() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (starts_with("//")) return blank_to(text_.find('\n', at_));
    if (starts_with("/*")) return blank_to(after("*/", at_ + 2));
    if (c == '#' && is_first_of_its_line()) return blank_preprocessor_line();
    if (c == '"' && at_ > 0 && text_[at_ - 1] == 'R') return blank_raw_string();
    if (c == '"' || (c == '\'' && !separates_digits())) return blank_literal(c);
    ++at_;
  }

  bool starts_with(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  std::size_t after(std::string_view what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string::npos ? found : found + what.size();
  }
  bool is_first_of_its_line() const {
    std::size_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    return before == 0 || text_[before - 1] == '\n';
  }
  bool separates_digits() const {
    std::size_t begin = at_;
    while (begin > 0 && (is_word(text_[begin - 1]) || text_[begin - 1] == '\'')) --begin;
    return begin < at_ && std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
  }

  void blank_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_)
      if (text_[at_] != '\n') text_[at_] = ' ';
  }
  void blank_preprocessor_line() {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    blank_to(end);
  }
  void blank_raw_string() {
    const std::size_t open = text_.find('(', at_);
    const std::string delimiter = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t end = after(delimiter, open);
    ++at_;
    blank_to(end - 1);
    ++at_;
  }
  void blank_literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    ++at_;
    blank_to(end);
    ++at_;
  }

  std::string text_;
  std::size_t at_ = 0;
};

/// Matches the braces of a text without comments and literals.
class FunctionScan {
 public:
  explicit FunctionScan(const std::string& code) : code_{code} {}

  std::vector<Function> result() {
    for (at_ = 0; at_ < code_.size(); ++at_) step();
    if (!open_.empty()) throw std::runtime_error{"an opening brace without a closing one"};
    return std::move(found_);
  }

 private:
  enum class Brace { scope, body, other };

  void step() {
    const char c = code_[at_];
    if (c == '{')
      open();
    else if (c == '}')
      close();
    else if (!is_at_scope())
      return;
    else if (c == ';' || is_access_specifier())
      head_begin_ = at_ + 1;
  }

  void open() {
    const Brace brace = is_at_scope() ? brace_behind(flat_head()) : Brace::other;
    if (brace == Brace::scope) head_begin_ = at_ + 1;
    if (brace == Brace::body) found_.push_back({in_one_line(head()), line_at(code_, head_start()), 0});
    open_.push_back(brace);
  }

  void close() {
    if (open_.empty()) throw std::runtime_error{"a closing brace without an opening one"};
    const Brace brace = open_.back();
    open_.pop_back();
    if (brace == Brace::body) found_.back().lines = line_at(code_, at_) - found_.back().line + 1;
    if (brace != Brace::other) head_begin_ = at_ + 1;
  }

  bool is_at_scope() const { return open_.empty() || open_.back() == Brace::scope; }
  bool is_access_specifier() const {
    if (code_[at_] != ':') return false;
    const std::string word = head();
    return word == "public" || word == "protected" || word == "private";
  }

  /// Where the declaration that is being read begins.
  std::size_t head_start() const {
    std::size_t begin = head_begin_;
    while (begin < at_ && is_space(code_[begin])) ++begin;
    return begin;
  }
  /// The declaration that is being read, up to here.
  std::string head() const {
    std::string head = code_.substr(head_start(), at_ - head_start());
    while (!head.empty() && is_space(head.back())) head.pop_back();
    return head;
  }

  Brace brace_behind(const std::string& head) const {
    if (opens_scope(head)) return Brace::scope;
    return opens_body(head) ? Brace::body : Brace::other;
  }
  static bool opens_scope(const std::string& head) {
    static const std::regex type_or_namespace{
        R"(^(template\s*<.*>\s*)?((inline|static|constexpr|const|extern)\s+)*)"
        R"((namespace|class|struct|union|enum)\b[^()]*$)"};
    static const std::regex linkage{R"(^extern\s*"\s*"$)"};
    return std::regex_search(head, type_or_namespace) || std::regex_search(head, linkage);
  }
  bool opens_body(const std::string& head) const {
    const auto depth = std::count(head.begin(), head.end(), '(') - std::count(head.begin(), head.end(), ')');
    return is_space(code_[at_ - 1]) && depth == 0 && head.find('(') != std::string::npos &&
           head.back() != '=';
  }
  /// In one line, and with no parentheses but a function's: those of alignas and attributes are left out.
  std::string flat_head() const {
    static const std::regex left_out{R"(alignas\s*\([^()]*\)|\[\[.*?\]\])"};
    return std::regex_replace(in_one_line(head()), left_out, "");
  }

  const std::string& code_;
  std::size_t at_ = 0;
  std::size_t head_begin_ = 0;
  std::vector<Brace> open_;
  std::vector<Function> found_;
};

}  // namespace

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  if (!stream) throw std::runtime_error{"cannot read " + file.string()};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

int line_count(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex include_line{R"re(^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>).*)re"};
  std::vector<Include> includes;
  std::istringstream lines{text};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, include_line))
      includes.push_back({match[1].matched ? match[1] : match[2], match[1].matched, number});
  }
  return includes;
}

std::string without_comments_and_literals(const std::string& text) { return Blanking{text}.result(); }

std::vector<Function> functions_of(const std::string& text) {
  const std::string code = without_comments_and_literals(text);
  return FunctionScan{code}.result();
}

}  // namespace redlock::layers
