#include "chaos/report/page.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "chaos/field/crew.hpp"
#include "chaos/report/chart.hpp"

namespace redlock::chaos {
namespace {

constexpr Instant minute = 60 * simulation::second;
constexpr int row_height = 18;
constexpr int names_width = 110;
constexpr double pixels_per_second = 20;

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '<')
      html += "&lt;";
    else if (c == '&')
      html += "&amp;";
    else if (c == '"')
      html += "&quot;";
    else
      html += c;
  }
  return html;
}

std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, 10> names{"plain",  "renewed", "fenced",  "waiting", "giving",
                                                   "taking", "running", "reading", "loading", "command"};
  return names[static_cast<std::size_t>(role)];
}

/// With a space before each.
std::string words_of(const Entry& entry) {
  std::string text;
  for (const std::string& word : entry.words) text.append(" ").append(word);
  return text;
}

struct Bar {
  int row;
  Instant from;
  Instant to;
  std::string style;
  std::string text;
};

/// The rows: the nodes, the links, the clients.
class Bars {
 public:
  Bars(const RunOptions& options, const Outcome& outcome)
      : nodes_{options.nodes}, roles_{roles(options)}, outcome_{outcome} {
    add_faults();
    for (const auto& log : outcome.logs) add_holds(log);
  }
  [[nodiscard]] int rows() const { return nodes_ * (1 + halves) + static_cast<int>(roles_.size()); }
  [[nodiscard]] std::string name_of_row(int row) const {
    if (row < nodes_) return "node " + std::to_string(row);
    if (row < nodes_ * (1 + halves))
      return "node " + std::to_string(row % nodes_) + ", half " + std::to_string(row / nodes_ - 1);
    const int client = row - nodes_ * (1 + halves);
    return client_name(client) + " " + std::string{name_of(roles_[static_cast<std::size_t>(client)])};
  }
  [[nodiscard]] const std::vector<Bar>& all() const noexcept { return bars_; }

 private:
  void add_faults() {
    std::map<std::uint64_t, Instant> begun;
    for (const Entry& entry : outcome_.faults) {
      if (entry.what != Entry::What::fault) continue;
      if (entry.words.front() == "begin")
        begun[entry.number] = entry.at;
      else if (const auto from = begun.find(entry.number); from != begun.end())
        add_fault(outcome_.plan.faults[entry.number], from->second, entry.at);
    }
  }
  void add_fault(const Fault& fault, Instant from, Instant to) {
    const Place place = place_of(fault.kind);
    const int row = place == Place::node   ? fault.target
                    : place == Place::link ? nodes_ + fault.target
                                           : nodes_ * (1 + halves) + fault.target;
    bars_.push_back({row, from, std::max(to, from + 50 * simulation::millisecond),
                     loses_data(fault.kind) ? "loss" : "fault", describe(fault, nodes_)});
  }
  void add_holds(const std::vector<Entry>& log) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Bar> open;
    for (const Entry& entry : log) {
      const std::pair id{entry.life, entry.number};
      const int row = nodes_ * (1 + halves) + entry.client;
      if (entry.what == Entry::What::hold) {
        open[id] = {row, entry.at, std::max(entry.at, static_cast<Instant>(std::stoll(entry.words[2]))),
                    "hold", entry.words[0] + ", token " + entry.words[1]};
      } else if (const auto bar = open.find(id); bar == open.end()) {
        continue;
      } else if (entry.what == Entry::What::extend) {
        bar->second.to = std::max(bar->second.to, static_cast<Instant>(std::stoll(entry.words[0])));
      } else if (entry.what == Entry::What::alive) {
        bar->second.to = std::max(bar->second.to, entry.at);
      } else if (entry.what == Entry::What::lost) {
        bar->second.text += ", lost:" + words_of(entry);
      } else if (entry.what == Entry::What::end) {
        bar->second.to = std::min(bar->second.to, entry.at);
        bars_.push_back(bar->second);
        open.erase(bar);
      }
    }
    for (const auto& [id, bar] : open) bars_.push_back(bar);
  }

  const int nodes_;
  const std::vector<Role> roles_;
  const Outcome& outcome_;
  std::vector<Bar> bars_;
};

/// Of a client that logs only a part of them.
std::uint64_t calls_in(const std::vector<Entry>& log) {
  std::uint64_t most = 0;
  for (const Entry& entry : log)
    if (entry.what == Entry::What::hold) most = std::max(most, entry.number);
  return most;
}

void write_charts(std::ostream& page, const Outcome& outcome) {
  for (std::size_t client = 0; client < outcome.footprints.size(); ++client)
    if (const auto& seen = outcome.footprints[client]; !seen.empty())
      write_chart(page, client_name(static_cast<int>(client)), seen, outcome.begun);
}

void write_minute(std::ostream& page, const Bars& bars, const Outcome& outcome, Instant from) {
  const auto x = [from](Instant at) {
    const double seconds = static_cast<double>(std::clamp<Instant>(at - from, 0, minute)) / 1e9;
    return names_width + seconds * pixels_per_second;
  };
  const int minute_height = (bars.rows() + 1) * row_height;
  page << "<svg width=\"" << names_width + 60 * pixels_per_second << "\" height=\"" << minute_height
       << "\">\n";
  for (int row = 0; row < bars.rows(); ++row)
    page << "<text x=\"0\" y=\"" << (row + 1) * row_height - 5 << "\">" << bars.name_of_row(row)
         << "</text><path d=\"M" << names_width << ' ' << (row + 1) * row_height - 1 << "h"
         << 60 * pixels_per_second << "\"/>\n";
  for (int second = 0; second <= 60; second += 5)
    page << "<text x=\"" << names_width + second * pixels_per_second << "\" y=\"" << minute_height - 4
         << "\">" << (from - outcome.begun) / simulation::second + second << " s</text>\n";
  for (const Bar& bar : bars.all()) {
    if (bar.to < from || bar.from >= from + minute) continue;
    page << "<rect class=\"" << bar.style << "\" x=\"" << x(bar.from) << "\" y=\"" << bar.row * row_height + 2
         << "\" width=\"" << std::max(1.0, x(bar.to) - x(bar.from)) << "\" height=\"" << row_height - 4
         << "\"><title>" << escaped(bar.text) << "</title></rect>\n";
  }
  const auto& broken = outcome.verdict.violation;
  if (broken && broken->at >= from && broken->at < from + minute)
    page << "<path class=\"broken\" d=\"M" << x(broken->at) << " 0v" << minute_height << "\"/>\n";
  page << "</svg>\n";
}

/// Without those that did not find their process.
std::ptrdiff_t faults_made(const Outcome& outcome) {
  return std::ranges::count_if(outcome.faults, [](const Entry& entry) {
    return entry.what == Entry::What::fault && entry.words.front() == "begin";
  });
}

/// What the seed does not say about the run: its other options.
std::string special(const RunOptions& options) {
  std::string text;
  if (options.haste != 1) text += ", haste " + std::to_string(options.haste);
  if (options.is_about_restarts) text += ", restarts";
  for (const Kind kind : options.only) text.append(", only ").append(name_of(kind));
  if (options.loses_packets) text += ", with lost packets";
  if (options.is_full_load) text += ", full load";
  if (options.control != Control::none)
    text += options.control == Control::guarded ? ", guarded control" : ", unguarded control";
  if (options.mutant) text.append(", mutant ").append(options.mutant->name);
  return text;
}

}  // namespace

void write_page(const std::string& path, const RunOptions& options, const Outcome& outcome) {
  std::ofstream page{path};
  page << "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>redlock-chaos</title>\n<style>"
          "body{font:14px sans-serif}svg{display:block;margin:1em 0;font-size:11px}path{stroke:#ddd}"
          "polyline{fill:none}.memory{stroke:#1e8449}.descriptors{stroke:#7f8c8d}"
          ".fault{fill:#f5b041}.loss{fill:#c0392b}.hold{fill:#2e86c1;opacity:.7}.broken{stroke:red;stroke-"
          "width:2}"
          "</style>\n<h1>redlock-chaos</h1>\n<pre>"
       << escaped(summary(options, outcome)) << escaped(around_violation(outcome))
       << "</pre>\n<p>Orange: faults. Red: faults by which a node forgets what it has granted. Blue: locks "
          "that are "
          "held. Point at a bar to read what it is.</p>\n";
  write_charts(page, outcome);
  const Bars bars{options, outcome};
  for (Instant from = outcome.begun; from < outcome.ended; from += minute)
    write_minute(page, bars, outcome, from);
  page << "</html>\n" << std::flush;
  if (!page) throw std::runtime_error{"cannot write " + path};
}

std::string summary(const RunOptions& options, const Outcome& outcome) {
  const simulation::Figures& figures = outcome.verdict.figures;
  std::ostringstream text;
  text << "seed " << options.seed << ", profile "
       << (options.profile == Profile::within ? "within" : "beyond") << ", " << options.nodes << " nodes, "
       << options.length.count() << " s" << special(options) << '\n'
       << faults_made(outcome) << " faults, " << figures.grants << " grants (" << figures.shared
       << " of them to readers, " << figures.downgrades << " to readers that were the writer, "
       << outcome.verdict.late << " seen after their deadline), " << figures.extensions << " extensions, "
       << outcome.verdict.losses << " losses reported, " << figures.overlaps << " overlaps\n"
       << outcome.written_fenced << " writes to the fenced store, of which it lost "
       << (outcome.verdict.violation && outcome.verdict.violation->rule == simulation::Rule::fence ? "some"
                                                                                                   : "none")
       << "; " << outcome.written_unfenced << " to its twin, of which it lost "
       << figures.writes_lost_unfenced << '\n';
  for (std::size_t client = 0; client < outcome.footprints.size(); ++client)
    if (const auto& seen = outcome.footprints[client]; !seen.empty())
      text << client_name(static_cast<int>(client)) << ": " << calls_in(outcome.logs[client]) << " calls; "
           << text_of(growth_of(seen)) << ", at most "
           << std::ranges::max(seen, {}, &Footprint::descriptors).descriptors << '\n';
  for (const std::string& trouble : outcome.troubles) text << "not as planned: " << trouble << '\n';
  return text.str();
}

std::string around_violation(const Outcome& outcome) {
  const auto& broken = outcome.verdict.violation;
  if (!broken) return {};
  std::ostringstream text;
  text << "broken after " << static_cast<double>(broken->at - outcome.begun) / 1e9
       << " s: " << simulation::name_of(broken->rule) << ": " << broken->text << '\n';
  std::vector<Entry> near;
  const auto add = [&](const std::vector<Entry>& log) {
    for (const Entry& entry : log)
      if (entry.what != Entry::What::alive && entry.at > broken->at - 6 * simulation::second &&
          entry.at < broken->at + simulation::second)
        near.push_back(entry);
  };
  add(outcome.faults);
  for (const auto& log : outcome.logs) add(log);
  std::ranges::stable_sort(near, {}, &Entry::at);
  for (const Entry& entry : near) {
    text << static_cast<double>(entry.at - outcome.begun) / 1e9 << " s  ";
    if (entry.client >= 0) text << client_name(entry.client) << ", ";
    text << name_of(entry.what) << ' ' << entry.number << words_of(entry) << '\n';
  }
  return text.str();
}

}  // namespace redlock::chaos
