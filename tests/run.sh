#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test:
#
#   tests/run.sh [--preset release|dev|clang|asan|tsan|tsan-library|coverage] [arguments for ctest…]
#
# `tests/run.sh -R endpoint` runs the tests with "endpoint" in their names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
if [ "${1:-}" = --preset ]; then
  preset=${2:?a preset is needed after --preset}
  shift 2
fi

.ci/install g++ make cmake libhiredis-dev libssl-dev openssl catch2 libcli11-dev nlohmann-json3-dev libsqlite3-dev \
  liblua5.1-0-dev redis-server redis-tools
case $preset in clang | asan | tsan | tsan-library) .ci/install clang libclang-rt-dev ;; esac

echo "== Configuring ($preset)"
cmake --preset "$preset"
echo "== Building"
nice -n 19 cmake --build --preset "$preset" --parallel "$(nproc)"  # tests may run beside it
echo "== Testing"
folder=build
[ "$preset" = release ] || folder=build-$preset
results=$PWD/$folder/test-results.xml
rm -f "$results"
outcome=0
ctest --preset "$preset" --output-junit "$results" "$@" || outcome=$?

# Counted from what ctest wrote down: a test that could not be started has failed.
[ -f "$results" ] || exit "$outcome"
all=$(grep -c '<testcase ' "$results" || true)
passed=$(grep -c '<testcase .* status="run"' "$results" || true)
echo "$passed passed, $((all - passed)) failed"
exit "$outcome"
