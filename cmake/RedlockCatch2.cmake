# Catch2 as `redlock::catch2`, with a main(). Version 3 where it is installed, else 2.13; the tests write
# `#include <catch2/catch.hpp>` for both.
find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 2.13 QUIET)
endif()
if(NOT Catch2_FOUND)
  message(FATAL_ERROR "redlock's tests need Catch2, 2.13 or newer. Install catch2 (Debian, Ubuntu, Arch, \
Homebrew) or catch2-devel (Fedora), or configure with -DREDLOCK_BUILD_TESTS=OFF.")
endif()
message(STATUS "Found Catch2: ${Catch2_DIR} (found version \"${Catch2_VERSION}\")")
include(Catch)

add_library(redlock-catch2 INTERFACE)
add_library(redlock::catch2 ALIAS redlock-catch2)

set(folder "${CMAKE_CURRENT_BINARY_DIR}/catch2")
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  file(CONFIGURE OUTPUT "${folder}/catch2/catch.hpp" CONTENT "#include <catch2/catch_all.hpp>\n")
  target_include_directories(redlock-catch2 SYSTEM INTERFACE "${folder}")
endif()

if(TARGET Catch2::Catch2WithMain)
  target_link_libraries(redlock-catch2 INTERFACE Catch2::Catch2WithMain)
else()
  file(CONFIGURE OUTPUT "${folder}/main.cpp"
    CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
  add_library(redlock-catch2-main STATIC "${folder}/main.cpp")
  target_link_libraries(redlock-catch2-main PUBLIC Catch2::Catch2)
  target_link_libraries(redlock-catch2 INTERFACE redlock-catch2-main)
endif()
