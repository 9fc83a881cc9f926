#include "chaos/report/chart.hpp"

#include <algorithm>

#include "simulation/scenario/schedule.hpp"

namespace redlock::chaos {
namespace {

constexpr double width = 1310;
constexpr double height = 100;
constexpr double title_height = 18;

template <typename Member>
void write_line(std::ostream& page, const std::vector<Footprint>& seen, Member member, Instant begun,
                const char* style) {
  const double most = static_cast<double>(std::ranges::max(seen, {}, member).*member);
  const double end = static_cast<double>(seen.back().at - begun);
  page << "<polyline class=\"" << style << "\" points=\"";
  for (const Footprint& each : seen)
    page << static_cast<double>(each.at - begun) / end * width << ','
         << title_height + height * (1 - static_cast<double>(each.*member) / most) << ' ';
  page << "\"/>\n";
}

}  // namespace

void write_chart(std::ostream& page, const std::string& title, const std::vector<Footprint>& seen,
                 Instant begun) {
  page << "<svg width=\"" << width << "\" height=\"" << title_height + height + 1
       << "\">\n<text x=\"0\" y=\"13\">" << title << ": memory (green) up to "
       << std::ranges::max(seen, {}, &Footprint::memory).memory << " KiB, descriptors (grey) up to "
       << std::ranges::max(seen, {}, &Footprint::descriptors).descriptors << "; "
       << (seen.back().at - begun) / simulation::second << " s</text><path d=\"M0 " << title_height + height
       << "h" << width << "\"/>\n";
  write_line(page, seen, &Footprint::memory, begun, "memory");
  write_line(page, seen, &Footprint::descriptors, begun, "descriptors");
  page << "</svg>\n";
}

}  // namespace redlock::chaos
