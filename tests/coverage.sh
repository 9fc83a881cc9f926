#!/usr/bin/env bash
# Runs the tests and prints how many lines of include/ and src/ they run, per file and in all:
#
#   tests/coverage.sh [--least PERCENT] [arguments for ctest…]
#
# `tests/coverage.sh -L unit-tests` counts what the unit tests run. With --least it fails if fewer lines are run.
#
# build-coverage/report/index.html shows the lines that no test runs. What processes do that are killed, or that end by
# _exit, is not counted: the watchdog of `redlock run`, children of fork() and killed holders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bound=()
if [ "${1:-}" = --least ]; then
  bound=(--fail-under-line "${2:?a percentage is needed after --least}")
  shift 2
fi
.ci/install gcovr

find build-coverage -name '*.gcda' -delete 2>/dev/null || true
outcome=0
tests/run.sh --preset coverage "$@" || outcome=$?
mkdir -p build-coverage/report
gcovr --root . --filter include/ --filter src/ -j "$(nproc)" --print-summary "${bound[@]}" --txt - \
  --html-details build-coverage/report/index.html build-coverage || outcome=$?
exit $outcome
