# Catch2 with a main() as `redlock-catch2`: version 3 where it is installed, else 2.13.
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

if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  add_library(redlock-catch2 INTERFACE)
  target_link_libraries(redlock-catch2 INTERFACE Catch2::Catch2WithMain)
else()
  # Version 2 is one large header: what it defines is compiled once for all test programs, by the same standard.
  add_library(redlock-catch2 STATIC "${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp")
  target_compile_features(redlock-catch2 PUBLIC cxx_std_20)
  target_link_libraries(redlock-catch2 PUBLIC Catch2::Catch2)
  target_compile_options(redlock-catch2 PRIVATE $<$<CONFIG:Debug,Release>:-O0>)  # -O3 takes 8 s more
endif()
