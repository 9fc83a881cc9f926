# The mistakes of chaos-mutant. Each replaces one place in a header of the core. The changed copies of the headers are in a folder
# that is searched before include/. There a mistake is made only if the environment variable REDLOCK_CHAOS_MUTANT has its name.
set(redlock_mutant_headers "${CMAKE_CURRENT_BINARY_DIR}/mutant")
set(changed_headers "")

# redlock_mistake(NAME HEADER RIGHT WRONG): WRONG replaces RIGHT, which has to be in the header exactly once. MAKES_MISTAKE in it is
# true if the mistake is to be made.
function(redlock_mistake name header right wrong)
  set(original "${PROJECT_SOURCE_DIR}/include/redlock/core/${header}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${original}")
  if(header IN_LIST changed_headers)
    message(FATAL_ERROR "tests/chaos/mutant/mistakes.cmake: ${header} has a mistake already")
  endif()
  file(READ "${original}" text)
  string(FIND "${text}" "${right}" first)
  string(FIND "${text}" "${right}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "tests/chaos/mutant/mistakes.cmake: the place of ${name} is not once in ${header}:\n${right}")
  endif()
  string(REPLACE "MAKES_MISTAKE" "chaos::makes_mistake(\"${name}\")" wrong "${wrong}")
  string(REPLACE "${right}" "${wrong}" text "${text}")
  string(REPLACE "#pragma once\n" "#pragma once\n\n#include \"chaos/mutant/makes_mistake.hpp\"\n" text "${text}")
  file(GENERATE OUTPUT "${redlock_mutant_headers}/redlock/core/${header}" CONTENT "${text}")  # only if it has changed
  set(changed_headers "${changed_headers};${header}" PARENT_SCOPE)
endfunction()

redlock_mistake(blind-delete lock/claim.hpp
  "    return kind->release.call({key, readers()}, {owner}, form);"
  "    if (MAKES_MISTAKE) return command({\"DEL\", key});
    return kind->release.call({key, readers()}, {owner}, form);")

redlock_mistake(marker-without-run-id restart_guard/restart_guard.hpp
  ": settings_{settings},"
  ": settings_{[chosen = Settings{settings}]() mutable {
          chosen.durable = chosen.durable || MAKES_MISTAKE;
          return chosen;
        }()},")

redlock_mistake(only-reachable-count operation/tally.hpp
  "return count(mark) >= quorum(nodes()); }"
  "return count(mark) >= quorum(nodes() - (MAKES_MISTAKE ? count(Mark::unknown) : 0)); }")

# Those of mistakes that are made no longer.
file(GLOB_RECURSE old RELATIVE "${redlock_mutant_headers}/redlock/core" "${redlock_mutant_headers}/*.hpp")
list(REMOVE_ITEM old ${changed_headers})
foreach(header IN LISTS old)
  file(REMOVE "${redlock_mutant_headers}/redlock/core/${header}")
endforeach()
