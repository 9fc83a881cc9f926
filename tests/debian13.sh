#!/usr/bin/env bash
# Tests with newer versions of all dependencies: on Debian 13, builds with g++ 14, hiredis 1.2 and Catch2 3.7, runs all
# tests with Redis 8 and those that use servers with Valkey 8, and tests the package.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/fresh_machine.sh" trixie \
  '.ci/install ccache' \
  'CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/run.sh --preset joined' \
  '.ci/install valkey-server && REDLOCK_SERVER=valkey-server tests/run.sh --preset joined -L "integration-tests|conformance"' \
  'CMAKE_CXX_COMPILER_LAUNCHER=ccache tests/package/run.sh'
