# Compiler and linker flags that make memory errors harder to exploit. They are for redlock's own programs and libraries:
# nothing of it reaches those who link or install a library, and a project that includes redlock keeps its own flags.
#
# Sanitized builds do without: sanitizers check more, and _FORTIFY_SOURCE would hide errors from them.
option(REDLOCK_HARDEN "Harden redlock's own programs and libraries, where the compiler can" ${PROJECT_IS_TOP_LEVEL})

set(redlock_hardening_options "")
set(redlock_hardening_link_options "")
if(NOT REDLOCK_HARDEN OR REDLOCK_SANITIZE)
  return()
endif()

include(CheckCXXSourceCompiles)
include(CheckPIESupported)

set(options -fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
  list(APPEND options -fcf-protection=full)
endif()
set(link_options -Wl,-z,relro -Wl,-z,now)

# One check for all, because each takes a program to build.
list(JOIN options " " CMAKE_REQUIRED_FLAGS)
string(APPEND CMAKE_REQUIRED_FLAGS " -Werror")
set(CMAKE_REQUIRED_LINK_OPTIONS ${link_options})
check_cxx_source_compiles("int main() { return 0; }" redlock_can_be_hardened)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(NOT redlock_can_be_hardened)
  message(STATUS "Not hardened: the compiler or the linker does not know ${options} ${link_options}")
  return()
endif()

check_pie_supported(LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# It needs optimisation. It is an option and no definition, so that it replaces what a packager defines, and a target
# that is not optimised can undefine it.
list(APPEND options "SHELL:$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
set(redlock_hardening_options ${options})
set(redlock_hardening_link_options ${link_options})
