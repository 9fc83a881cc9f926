#include "chaos/worker/stores.hpp"

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

using namespace redlock::chaos;
using redlock::Clock;
using redlock::FencingToken;
using namespace std::chrono_literals;

TEST_CASE("a_store_without_tokens_loses_the_write_of_whom_another_writer_has_not_seen") {
  const redlock::testing::TempFolder folder;
  SharedStores one{folder.path() / "stores"};
  SharedStores other{folder.path() / "stores"};
  const auto seen = one.read({});
  other.write_unfenced(other.read({}));
  CHECK(one.lost_unfenced() == 0);
  one.write_unfenced(seen);
  CHECK(other.lost_unfenced() == 1);
  CHECK(other.written_unfenced() == 2);
  for (int write = 0; write < 3; ++write) other.write_unfenced(other.read({}));
  one.write_unfenced(seen);
  CHECK(other.lost_unfenced() == 2);
  CHECK(other.written_unfenced() == 6);
}

TEST_CASE("a_writer_that_keeps_its_deadline_does_not_write_after_it") {
  const redlock::testing::TempFolder folder;
  SharedStores one{folder.path() / "stores"};
  SharedStores other{folder.path() / "stores"};
  const auto seen = one.read({});
  CHECK(other.write_unfenced_before(Clock::now() + 1h, other.read({})));
  CHECK_FALSE(one.write_unfenced_before(Clock::now() - 1ns, seen));
  CHECK(one.lost_unfenced() == 0);
  CHECK(one.read({}).unfenced == 1);
  CHECK(one.write_unfenced_before(Clock::now() + 1h, one.read({})));  // no transaction is left open
  CHECK(other.read({}).unfenced == 2);
}

TEST_CASE("a_store_that_checks_tokens_loses_no_write") {
  const redlock::testing::TempFolder folder;
  SharedStores one{folder.path() / "stores"};
  SharedStores other{folder.path() / "stores"};
  const auto seen = one.read(FencingToken{1});
  other.write_fenced(FencingToken{2}, other.read(FencingToken{2}));
  CHECK_THROWS_AS(one.write_fenced(FencingToken{1}, seen), StaleToken);
  CHECK(other.lost_fenced() == 0);
  CHECK(other.written_fenced() == 1);
}
