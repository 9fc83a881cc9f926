# Whether this build has TLS, and what it then links. Only OpenSSL 3.0 or newer will do.
if(NOT REDLOCK_TLS MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "REDLOCK_TLS is ${REDLOCK_TLS}; allowed: AUTO, ON, OFF")
endif()

set(redlock_has_tls OFF)
if(NOT REDLOCK_TLS STREQUAL "OFF")
  find_package(OpenSSL 3.0 QUIET)
  if(OPENSSL_FOUND)
    set(redlock_has_tls ON)
  elseif(REDLOCK_TLS STREQUAL "ON")
    message(FATAL_ERROR "redlock with -DREDLOCK_TLS=ON needs OpenSSL 3.0 or newer with its headers: libssl-dev (Debian, \
Ubuntu), openssl-devel (Fedora), openssl (Homebrew, Arch). Or name its prefix in OPENSSL_ROOT_DIR.")
  endif()
endif()

if(redlock_has_tls)
  message(STATUS "TLS: OpenSSL ${OPENSSL_VERSION}")
  set(redlock_tls_libraries OpenSSL::SSL OpenSSL::Crypto)
else()
  message(STATUS "TLS: none, so rediss:// is refused (REDLOCK_TLS is ${REDLOCK_TLS})")
  set(redlock_tls_libraries "")
endif()
