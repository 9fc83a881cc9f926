#!/usr/bin/env bash
# Installs what is missing, builds the fuzzers and runs each: tests/fuzz/run.sh [SECONDS, 30 unless given]
# A finding fails the run. It stays in build-fuzz/findings/; once mended, it goes to tests/fuzz/corpus/ under a name that
# tells what it is, and from then on every run of the tests tries it.
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
  cp -R "tests/fuzz/corpus/$subject" "$work"  # libFuzzer adds to it what it learns
  # What matters is short. An allocation larger than any limit of ours is a finding, and so is what takes seconds.
  build-fuzz/bin/$subject-fuzzer -max_total_time="$seconds" -dict=tests/fuzz/$subject.dict \
    -max_len=1200 -malloc_limit_mb=16 -rss_limit_mb=1024 -timeout=10 -artifact_prefix=build-fuzz/findings/ \
    "$work/$subject" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  tail -n 1 "$work/log"
done
