#!/usr/bin/env bash
# Tests with newer versions of all dependencies: tests/debian13.sh [--full]
#
# On Debian 13, builds with g++ 14, hiredis 1.2, OpenSSL 3.5 and Catch2 3.7. Runs all tests but those of the simulation with
# Redis 8, and with Valkey 8 the comparison with the simulated server and the tests of TLS. With --full it also runs all
# tests that use servers with Valkey 8, tests the package, runs the tests of the simulation, and builds the examples.
set -euo pipefail
valkey() { echo ".ci/install valkey-server && REDLOCK_SERVER=valkey-server tests/run.sh --preset tests-only $1"; }

commands=('.ci/install ccache' 'CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/run.sh --preset tests-only')
case "$#:${1:-}" in
  0:) commands+=("$(valkey "-R 'conformance|tls|certificate'")") ;;
  1:--full) commands+=("$(valkey "-L 'tool-tests|integration-tests|conformance'")"
    'CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/package/run.sh'
    'cmake --preset tests-only -DREDLOCK_BUILD_SIMULATION=ON -DREDLOCK_BUILD_EXAMPLES=ON >/dev/null &&
      cmake --build --preset tests-only --parallel "$(nproc)" && ctest --preset tests-only -L simulation-tests') ;;
  *) echo "usage: $0 [--full]" >&2; exit 2 ;;
esac
exec "$(dirname "${BASH_SOURCE[0]}")/fresh_machine.sh" trixie "${commands[@]}"
