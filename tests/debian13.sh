#!/usr/bin/env bash
# Tests with newer versions of all dependencies: tests/debian13.sh [--full]
#
# On Debian 13, builds with g++ 14, hiredis 1.2, OpenSSL 3.5 and Catch2 3.7. Runs the tests of the library that use servers
# with Redis 8, and with Valkey 8 the comparison with the simulated server and the tests of TLS. With --full it also builds
# the command, runs the unit tests, and all tests that use servers with Valkey 8, tests the package, runs the tests of the
# simulation, and builds the examples. Then it builds the library, the command and the unit tests with clang 19 and its
# standard library, and runs the unit tests.
set -euo pipefail
# Debian's Catch2 is built with the library of g++, so this one is built from Debian's source.
catch2_for_libcxx='.ci/install clang libc++-dev libc++abi-dev &&
  sed "s/^deb /deb-src /" /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list && apt-get update -q && cd /tmp &&
  apt-get source -q --download-only catch2 && tar -xf catch2_*.orig.tar.gz &&
  cmake -S Catch2-* -B catch2-build -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS=-stdlib=libc++ -DCMAKE_CXX_STANDARD=20 &&
  cmake --build catch2-build --parallel "$(nproc)" && cmake --install catch2-build --prefix /opt/catch2 >/dev/null'
with_libcxx='Catch2_DIR=/opt/catch2/lib/cmake/Catch2 cmake --preset libc++ &&
  cmake --build --preset libc++ --parallel "$(nproc)" --target redlock-tool unit-tests && ctest --preset libc++ -L unit-tests'
preset=server-tests
[ "${1:-}" != --full ] || preset=tests-only
valkey() { echo ".ci/install valkey-server && REDLOCK_SERVER=valkey-server tests/run.sh --preset $preset $1"; }

commands=('.ci/install ccache' "CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/run.sh --preset $preset")
case "$#:${1:-}" in
  0:) commands+=("$(valkey "-L '^(conformance|tls)$'")") ;;
  1:--full) commands+=("$(valkey "-L 'tool-tests|integration-tests|conformance'")"
    'CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/package/run.sh'
    'cmake --preset tests-only -DREDLOCK_BUILD_SIMULATION=ON -DREDLOCK_BUILD_EXAMPLES=ON >/dev/null &&
      cmake --build --preset tests-only --parallel "$(nproc)" && ctest --preset tests-only -L simulation-tests'
    "$catch2_for_libcxx" "$with_libcxx") ;;
  *) echo "usage: $0 [--full]" >&2; exit 2 ;;
esac
exec "$(dirname "${BASH_SOURCE[0]}")/fresh_machine.sh" trixie "${commands[@]}"
