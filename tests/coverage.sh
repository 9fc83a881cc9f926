#!/usr/bin/env bash
# Runs the tests and prints how many lines of include/ and src/ they run, per file and in all:
#
#   tests/coverage.sh                    of all tests
#   tests/coverage.sh -L unit-tests      of some, by arguments for ctest
#
# build-coverage/report/index.html shows the lines that no test runs. What processes do that are killed, or that end by
# _exit, is not counted: the watchdog of `redlock run`, children of fork() and killed holders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.ci/install gcovr

find build-coverage -name '*.gcda' -delete 2>/dev/null || true
outcome=0
tests/run.sh --preset coverage "$@" || outcome=$?
mkdir -p build-coverage/report
gcovr --root . --filter include/ --filter src/ -j "$(nproc)" --print-summary --txt - \
  --html-details build-coverage/report/index.html build-coverage
exit $outcome
