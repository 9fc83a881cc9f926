// The main function of test programs. Version 3 of Catch2 brings its own (Catch2WithMain).
// Without Catch2, which the benchmark does not need, there is nothing here.
#if __has_include(<catch2/catch.hpp>) && !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
