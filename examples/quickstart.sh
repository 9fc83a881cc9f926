#!/usr/bin/env bash
# Installs the dependencies, builds the command redlock and one example, and runs a command under a lock on five private
# Redis servers. That command shows which servers hold the lock.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }
export -f say

.ci/install g++ make cmake libhiredis-dev libssl-dev libcli11-dev nlohmann-json3-dev redis-server

say "Building the command redlock and examples/quick_start.cpp"
[ -f build/CMakeCache.txt ] || cmake --preset release -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_BENCHMARK=OFF
cmake --build build --target redlock-tool quick_start --parallel "$(nproc)"
PATH=$PWD/build/bin:$PATH

# The command that runs under the lock.
under_the_lock() {
  set -euo pipefail
  echo "This command holds the lock \"$REDLOCK_RESOURCE\" as owner $REDLOCK_OWNER."

  say "Who holds it, node by node: redlock status demo"
  redlock status demo

  say "A second client tries meanwhile: redlock run -n demo -- echo mine"
  local code=0
  redlock run -n demo -- echo mine || code=$?
  echo "exit code $code"
  [ "$code" -eq 1 ]

  say "The same from C++: quick_start"
  quick_start &
  until redlock status invoice/42 | grep -q 'is held by' || ! kill -0 "$!"; do sleep 0.05; done
  redlock status invoice/42
  wait "$!"

  say "After the release: redlock status invoice/42"
  redlock status invoice/42
}
export -f under_the_lock

say "A command under a lock on five private Redis servers: redlock run --local 5 demo -- …"
redlock run --local 5 demo -- bash -c under_the_lock

say "Done, and the servers are stopped. For more, see redlock run --help. To run the tests: tests/run.sh"
