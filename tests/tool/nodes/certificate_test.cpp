// What redlock nodes says about the end of a server's certificate.
#include <algorithm>
#include <chrono>

#include "support/catch.hpp"
#include "tool/nodes/findings.hpp"
#include "tool/nodes/survey.hpp"

using namespace std::chrono_literals;
using redlock::testing::contains;
using redlock::tool::Finding;

namespace {

/// What is found about a certificate that ends then; empty if nothing is.
std::string finding_about(std::chrono::sys_seconds end) {
  redlock::tool::Survey survey;
  redlock::tool::NodeView node;
  node.facts.certificate_end = end;
  survey.nodes = {node};
  const auto all = redlock::tool::findings_of(survey);
  const auto found = std::ranges::find(all, "certificate", &Finding::id);
  return found == all.end() ? "" : found->text;
}

}  // namespace

TEST_CASE("a_certificate_is_reported_in_its_last_month_and_after_its_end_however_far_that_is") {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  CHECK_THAT(finding_about(now - 48h), contains("has ended"));
  CHECK_THAT(finding_about(now + 36h), contains("ends in less than 2 days"));
  CHECK(finding_about(now + 31 * 24h).empty());
  CHECK(finding_about(std::chrono::sys_days{std::chrono::year{2263} / 1 / 1}).empty());
  CHECK(finding_about(std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}).empty());
}
