#!/usr/bin/env bash
# Installs missing packages, builds the fuzzers and runs each of them: tests/fuzz/run.sh [SECONDS, default 30]
# A finding fails the run and is kept in build-fuzz/findings/. Once the error is fixed, the file goes to
# tests/fuzz/corpus/ under a descriptive name, and every run of the tests checks it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-30}

.ci/install clang libclang-rt-dev make cmake libhiredis-dev
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel "$(nproc)" --target endpoint-fuzzer vote-fuzzer

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build-fuzz/findings
export UBSAN_OPTIONS=print_stacktrace=1
for subject in endpoint vote; do
  echo "== $subject: $seconds s"
  cp -R "tests/fuzz/corpus/$subject" "$work"  # a copy, as libFuzzer adds new inputs
  # Short inputs suffice. An allocation above our limits is a finding, and so is an input that takes seconds.
  build-fuzz/bin/$subject-fuzzer -max_total_time="$seconds" -dict=tests/fuzz/$subject.dict \
    -max_len=1200 -malloc_limit_mb=16 -rss_limit_mb=1024 -timeout=10 -artifact_prefix=build-fuzz/findings/ \
    "$work/$subject" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  tail -n 1 "$work/log"
done
