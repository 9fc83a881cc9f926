// The pieces of a picture in SVG.
#pragma once

#include <string>
#include <string_view>

namespace redlock::testing::svg {

/// The colours of pictures, on a dark background.
inline constexpr const char* dark_mode = R"svg(<style>
@media (prefers-color-scheme: dark) {
[fill="#fff"]{fill:#0d1117} [stroke="#fff"]{stroke:#0d1117} [fill="#222"]{fill:#e6edf3}
[fill="#333"]{fill:#c9d1d9} [fill="#555"]{fill:#9da7b3} [stroke="#777"]{stroke:#8b949e}
[stroke="#bbb"]{stroke:#484f58} [fill="#36c"]{fill:#6cb6ff} [stroke="#36c"]{stroke:#6cb6ff}
[fill="#1f3f8a"]{fill:#a5d0ff} [fill="#2a7d3f"]{fill:#57ab5a} [stroke="#2a7d3f"]{stroke:#57ab5a}
[fill="#174d26"]{fill:#8ddb8c} [fill="#b3261e"]{fill:#f47067} [stroke="#b3261e"]{stroke:#f47067}
[fill="#8c1d18"]{fill:#ff938a} [fill="#fbdcd9"]{fill:#4a1d1a} [fill="#f4c95d"]{fill:#8a6410}
[stroke="#a87b00"]{stroke:#daaa3f} [fill="#6b4e00"]{fill:#eac55f}
}
</style>
)svg";

[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

[[nodiscard]] inline std::string num(int number) { return std::to_string(number); }

/// `more`: further attributes, with a space before each.
[[nodiscard]] inline std::string rect(int x, int y, int width, int height, const std::string& more = "") {
  return "<rect x=\"" + num(x) + "\" y=\"" + num(y) + "\" width=\"" + num(width) + "\" height=\"" +
         num(height) + "\"" + more + "/>\n";
}
[[nodiscard]] inline std::string path(const std::string& points) { return "<path d=\"" + points + "\"/>\n"; }
[[nodiscard]] inline std::string line(int x1, int y1, int x2, int y2) {
  return path("M" + num(x1) + " " + num(y1) + "L" + num(x2) + " " + num(y2));
}
[[nodiscard]] inline std::string text(int x, int y, const std::string& words) {
  return "<text x=\"" + num(x) + "\" y=\"" + num(y) + "\">" + escaped(words) + "</text>\n";
}
/// `look`: the attributes of all its content.
[[nodiscard]] inline std::string group(const std::string& look, const std::string& content) {
  return content.empty() ? "" : "<g " + look + ">\n" + content + "</g>\n";
}
/// A whole picture on a white background. `definitions`: those of patterns and markers.
[[nodiscard]] inline std::string picture(int width, int height, const std::string& title,
                                         const std::string& definitions, const std::string& content) {
  const std::string size = num(width) + " " + num(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + num(width) + "\" height=\"" + num(height) +
         "\" viewBox=\"0 0 " + size +
         "\" font-family=\"Helvetica, Arial, sans-serif\" role=\"img\" aria-label=\"" + escaped(title) +
         "\">\n" + dark_mode + definitions + rect(0, 0, width, height, R"( rx="6" fill="#fff")") + content +
         "</svg>\n";
}

}  // namespace redlock::testing::svg
