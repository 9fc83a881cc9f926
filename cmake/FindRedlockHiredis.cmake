# Finds hiredis, whatever its version and however it was installed, and makes `redlock::hiredis` of it, with which
# `#include <hiredis/hiredis.h>` works.
#
# The name is redlock's own, so that it never meets a finder or a target of the project that uses redlock. Looked
# for, in this order:
#   1. a target hiredis::hiredis or hiredis that the project has already
#   2. the config package `hiredis`, which hiredis has installed since 1.0
#   3. header and library in the usual places, or where pkg-config says
# Sets RedlockHiredis_FILE to the library's path, where that is known, and RedlockHiredis_HELP to what to do when there
# is none. The config package `Hiredis` of hiredis 0.14 is passed over: it has no target, and its version file ends the
# configuration with an error when no version is asked for.

if(TARGET redlock::hiredis)
  set(RedlockHiredis_FOUND TRUE)
  return()
endif()

# In its own source tree hiredis has its headers in no folder `hiredis`, and an installed header of another version
# would be taken instead: so a link leads there.
function(redlock_wrap_hiredis target)
  add_library(redlock::hiredis INTERFACE IMPORTED)
  target_link_libraries(redlock::hiredis INTERFACE ${target})
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(imported ${target} IMPORTED)
  if(imported)
    get_target_property(file ${target} LOCATION)
    if(file)
      set(RedlockHiredis_FILE "${file}" PARENT_SCOPE)
    endif()
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT EXISTS "${folder}/hiredis.h")
    return()
  endif()
  set(include "${CMAKE_CURRENT_BINARY_DIR}/hiredis-include")
  file(MAKE_DIRECTORY "${include}")
  file(CREATE_LINK "${folder}" "${include}/hiredis" SYMBOLIC)
  target_include_directories(redlock::hiredis INTERFACE "${include}")
endfunction()

if(NOT TARGET hiredis::hiredis AND NOT TARGET hiredis)
  find_package(hiredis CONFIG QUIET)
endif()

set(RedlockHiredis_TARGET "")
foreach(target IN ITEMS hiredis hiredis::hiredis)
  if(TARGET ${target})
    set(RedlockHiredis_TARGET ${target})
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
set(RedlockHiredis_HELP "Install hiredis with its headers: libhiredis-dev (Debian, Ubuntu), hiredis-devel (Fedora), \
hiredis (Homebrew, Arch), or name its prefix in CMAKE_PREFIX_PATH.")

if(RedlockHiredis_TARGET)
  find_package_handle_standard_args(RedlockHiredis REQUIRED_VARS RedlockHiredis_TARGET)
  redlock_wrap_hiredis(${RedlockHiredis_TARGET})
else()
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(RedlockHiredis_PC QUIET hiredis)
  endif()
  # The folder that pkg-config names is often .../include/hiredis itself.
  set(parents ${RedlockHiredis_PC_INCLUDE_DIRS})
  list(TRANSFORM parents APPEND "/..")
  find_path(RedlockHiredis_INCLUDE_DIR hiredis/hiredis.h HINTS ${RedlockHiredis_PC_INCLUDE_DIRS} ${parents})
  find_library(RedlockHiredis_LIBRARY hiredis HINTS ${RedlockHiredis_PC_LIBRARY_DIRS})
  mark_as_advanced(RedlockHiredis_INCLUDE_DIR RedlockHiredis_LIBRARY)
  find_package_handle_standard_args(RedlockHiredis
    REQUIRED_VARS RedlockHiredis_LIBRARY RedlockHiredis_INCLUDE_DIR REASON_FAILURE_MESSAGE "${RedlockHiredis_HELP}")
  set(RedlockHiredis_FILE "${RedlockHiredis_LIBRARY}")
  if(RedlockHiredis_FOUND)
    add_library(redlock::hiredis UNKNOWN IMPORTED)
    set_target_properties(redlock::hiredis PROPERTIES
      IMPORTED_LOCATION "${RedlockHiredis_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${RedlockHiredis_INCLUDE_DIR}")
  endif()
endif()
unset(parents)
