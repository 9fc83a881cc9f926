# Installs the libraries, their headers, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)

set(redlock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")

foreach(kind IN ITEMS LIB INCLUDE)
  string(TOLOWER ${kind} name)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}DIR}")
    set(redlock_pc_${name}dir "${CMAKE_INSTALL_${kind}DIR}")
  else()
    set(redlock_pc_${name}dir "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  endif()
endforeach()

# A library with its CMake targets and its pkg-config file; both are named as it is.
function(redlock_install_library target)
  install(TARGETS ${target} EXPORT ${target}-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT ${target}-targets NAMESPACE redlock:: DESTINATION "${redlock_package_dir}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${target}.pc.in" "${PROJECT_BINARY_DIR}/${target}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${target}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# Only one kind of library is installed, so what the static one needs is said without `.private`: a plain
# `pkg-config --libs` links. It is said as flags rather than as `Requires: hiredis`, which would put hiredis' own
# folder of headers on the users' include path.
set(redlock_pc_libs "-lredlock")
get_target_property(redlock_type redlock TYPE)
if(redlock_type STREQUAL "STATIC_LIBRARY")
  if(RedlockHiredis_LIBRARY)
    get_filename_component(folder "${RedlockHiredis_LIBRARY}" DIRECTORY)
    if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND redlock_pc_libs " -L${folder}")
    endif()
  endif()
  string(APPEND redlock_pc_libs " -lhiredis")
endif()
redlock_install_library(redlock)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN testing EXCLUDE)

if(REDLOCK_BUILD_TESTING)
  redlock_install_library(redlock-testing)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/redlock/testing" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/redlock")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/redlock-config.cmake.in"
  "${PROJECT_BINARY_DIR}/redlock-config.cmake" INSTALL_DESTINATION "${redlock_package_dir}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redlock-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/redlock-config.cmake"
  "${PROJECT_BINARY_DIR}/redlock-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindRedlockHiredis.cmake"
  DESTINATION "${redlock_package_dir}")
