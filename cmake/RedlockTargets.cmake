# How redlock's own targets are built. Everything is set on targets: the flags of a project that includes redlock
# stay as they are, and nothing but the include path, C++20 and the thread library reaches those who link it.

# Warnings, hardening, sanitizers and the place of programs.
function(redlock_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(redlock_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  endif()
  # g++ 12 warns of impossible copies inside its own std::string (GCC bugs 105651, 105329). Also where redlock is a
  # guest: its host may have asked for -Wall -Werror.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(REDLOCK_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_compile_options(${target} PRIVATE ${redlock_hardening_options})
  target_link_options(${target} PRIVATE ${redlock_hardening_link_options})
  if(REDLOCK_SANITIZE)
    # Not `vptr`: it needs a pipe when it meets a type, and fails in tests that leave a process no descriptor.
    target_compile_options(${target} PRIVATE
      -fsanitize=${REDLOCK_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # With them g++ loses track of what is initialized, inside its own std::regex for one.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${REDLOCK_SANITIZE}>)
  endif()
endfunction()

# A library, static or shared as BUILD_SHARED_LIBS says, and `${target}-inside` for programs of ours that include its
# internal headers: the same, but static where the library is shared and so keeps its inside to itself.
function(redlock_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_library(${target} ${arg_SOURCES})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
      target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")
    endif()
    add_library(${target}-inside STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
    redlock_configure_library(${target}-inside ${arg_LIBRARIES})
  else()
    add_library(${target}-inside ALIAS ${target})
  endif()
  redlock_configure_library(${target} ${arg_LIBRARIES})
endfunction()

function(redlock_configure_library target)
  redlock_configure(${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE ${ARGN})
  # Before 1.0 every minor version may change the binary interface.
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# The main file of a program, which parses arguments with CLI11: its build time matters, its speed does not.
function(redlock_compile_quickly)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<IF:$<CONFIG:Debug>,-O0,-O1>)
endfunction()

# A program that lands in bin/.
function(redlock_add_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${arg_SOURCES})
  redlock_configure(${target})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
endfunction()
