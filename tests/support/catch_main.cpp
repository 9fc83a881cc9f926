// The main function of test programs for version 2 of Catch2. Version 3 has its own (Catch2WithMain).
// The file is empty without Catch2, which the benchmark does not need.
#if __has_include(<catch2/catch.hpp>) && !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
