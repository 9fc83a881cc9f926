// No password stays in the memory of a process that has no client any more.
#include "integration/secrets/hidden_password.hpp"
#include "support/catch.hpp"

using namespace redlock::testing;

TEST_CASE("no_password_of_an_endpoint_stays_in_memory_after_its_client") {
  secrets::check_password_of_endpoint(false);
}

TEST_CASE("a_password_that_was_replaced_is_not_in_memory_any_more") {
  secrets::check_password_that_is_replaced(false);
}

TEST_CASE("no_password_of_the_environment_or_of_a_file_stays_in_memory") {
  secrets::check_password_of_environment_or_file(false);
}
