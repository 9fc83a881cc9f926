// redlock acl: what the command prints.
#include <string>

#include "support/catch.hpp"
#include "tool/acl/rules.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;
using redlock::tool::acl_rules;
using redlock::tool::Feature;

TEST_CASE("redlock_acl_prints_a_line_with_a_placeholder_for_the_password") {
  const Program::Ending plain = run_tool({"acl", "--for", "plain", "--key-prefix", "app:", "--user", "me"});
  CHECK(plain.code == 0);
  CHECK(plain.output ==
        "ACL SETUSER me reset on >PASSWORD ~app:* ~redlock:node:app: ~redlock:quarantine:app: "
        "+client|setname +role +info +script|load +eval +evalsha +set +getrange +del +exists +pttl +time\n");
  const std::string all = run_tool({"acl"}).output;
  CHECK(all.starts_with("ACL SETUSER locks reset on >PASSWORD ~* &__redis__:invalidate &redlock:turn:* +"));
  CHECK(all == run_tool({"acl", "--for", "waiting", "shared", "renewed"}).output);
  CHECK(all == run_tool({"acl", "--for", "waiting,shared,renewed"}).output);
  for (const char* const wrong : {"everything", "plain,everything"})
    CHECK_THAT(run_tool({"acl", "--for", wrong}).errors,
               contains("--for: everything not in {plain,fenced,renewed,waiting,shared,operator}\n"));
  CHECK_THAT(run_tool({"acl", "--help"}).output, contains("--for FEATURE[,FEATURE] ..."));
  CHECK(run_tool({"acl", "--for", "everything"}).code == 64);
  for (const char* const name : {"", "two words", "\"quoted\""}) {
    const Program::Ending refused = run_tool({"acl", "--user", name});
    CHECK(refused.code == 64);
    CHECK_THAT(refused.errors, contains("visible ASCII characters"));
  }
}

TEST_CASE("a_prefix_is_quoted_in_the_rules") {
  CHECK(acl_rules({Feature::plain}, "a*[b] \\c").front() == "~a\\*\\[b\\]??c*");
}
