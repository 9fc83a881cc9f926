// No password stays in the memory of a process that has no client any more, nor in that of OpenSSL.
#include "integration/secrets/hidden_password.hpp"
#include "support/catch.hpp"

using namespace redlock::testing;

TEST_CASE("no_password_of_an_endpoint_with_tls_stays_in_memory_after_its_client") {
  secrets::check_password_of_endpoint(true);
}

TEST_CASE("a_password_that_was_replaced_over_tls_is_not_in_memory_any_more") {
  secrets::check_password_that_is_replaced(true);
}

TEST_CASE("no_password_of_the_environment_or_of_a_file_stays_in_memory_with_tls") {
  secrets::check_password_of_environment_or_file(true);
}
