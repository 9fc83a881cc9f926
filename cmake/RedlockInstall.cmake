# Installs the libraries, their headers, and what find_package and pkg-config read. Every library is an installation
# component of its own: `cmake --install build --component redlock-testing`.
include(CMakePackageConfigHelpers)

set(redlock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")

# The file for pkg-config. It finds its library from where it lies itself, so that `cmake --install build --prefix …`
# and folders that are moved later are right as well.
function(redlock_install_pkgconfig target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION;LIBS;REQUIRES" "")
  set(folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(prefix "${CMAKE_INSTALL_PREFIX}")
    set(libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  else()
    file(RELATIVE_PATH up "/${folder}" "/")
    string(REGEX REPLACE "/$" "" prefix "\${pcfiledir}/${up}")
    set(libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in" "${PROJECT_BINARY_DIR}/${target}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${target}.pc" DESTINATION "${folder}" COMPONENT ${target})
endfunction()

function(redlock_install_library target)
  install(TARGETS ${target} EXPORT ${target}-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${target}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${target})
  install(EXPORT ${target}-targets NAMESPACE redlock:: DESTINATION "${redlock_package_dir}" COMPONENT ${target})
  redlock_install_pkgconfig(${target} ${ARGN})
endfunction()

# Only one kind of library is installed, so what the static one needs is said without `.private`: a plain
# `pkg-config --libs` links, and `--static` says the same. It is said as flags rather than as `Requires: hiredis`,
# which would put hiredis' own folder of headers, with an alloc.h and a net.h, on the users' include path.
set(redlock_libs "")
get_target_property(redlock_type redlock TYPE)
if(redlock_type STREQUAL "STATIC_LIBRARY")
  set(redlock_tls_libs "")
  if(redlock_has_tls)
    set(redlock_tls_libs "-lssl -lcrypto ")
    get_filename_component(folder "${OPENSSL_SSL_LIBRARY}" DIRECTORY)
    if(folder AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      set(redlock_tls_libs "-L${folder} -lssl -lcrypto ")
    endif()
  endif()
  set(redlock_libs "-lhiredis ${redlock_tls_libs}-ldl")
  get_filename_component(folder "${RedlockHiredis_FILE}" DIRECTORY)
  if(folder AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    set(redlock_libs "-L${folder} -lhiredis ${redlock_tls_libs}-ldl")
  endif()
endif()

redlock_install_library(redlock DESCRIPTION "${PROJECT_DESCRIPTION}" LIBS "${redlock_libs}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT redlock
  FILES_MATCHING PATTERN "*.hpp" PATTERN testing EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/include/redlock/testing/fake_locks.hpp" COMPONENT redlock
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/redlock/testing")

if(REDLOCK_BUILD_TESTING)
  redlock_install_library(redlock-testing DESCRIPTION "Redis servers for tests of code that uses redlock"
    REQUIRES redlock)
  install(FILES "${PROJECT_SOURCE_DIR}/include/redlock/testing/local_nodes.hpp" COMPONENT redlock-testing
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/redlock/testing")
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
  DESTINATION "${redlock_package_dir}" COMPONENT redlock)
