#!/usr/bin/env bash
# The newer generation of everything the project works with: on Debian 13, builds with g++ 14, hiredis 1.2 and Catch2
# 3.7, runs every test with Redis 8 and those that talk to servers with Valkey 8, and uses the package as others do.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/fresh_machine.sh" trixie \
  tests/run.sh \
  '.ci/install valkey-server && REDLOCK_SERVER=valkey-server tests/run.sh -L "integration-tests|conformance"' \
  tests/package/run.sh
