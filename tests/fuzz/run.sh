#!/usr/bin/env bash
# Installs missing packages, builds the fuzzers and runs both at once: tests/fuzz/run.sh [SECONDS, default 30]
# A finding fails the run and is kept in build-fuzz/findings/. Once the error is fixed, the file goes to
# tests/fuzz/corpus/ under a descriptive name, and every run of the tests checks it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-30}

.ci/install clang libclang-rt-dev make cmake libhiredis-dev
cmake --preset fuzz >/dev/null
nice -n 19 cmake --build --preset fuzz --parallel "$(nproc)" --target endpoint-fuzzer vote-fuzzer

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build-fuzz/findings
export UBSAN_OPTIONS=print_stacktrace=1
fuzz() {
  local subject=$1
  cp -R "tests/fuzz/corpus/$subject" "$work"  # a copy, as libFuzzer adds new inputs
  # Short inputs suffice. An allocation above our limits is a finding, and so is an input that takes seconds.
  build-fuzz/bin/$subject-fuzzer -max_total_time="$seconds" -dict=tests/fuzz/$subject.dict \
    -max_len=1200 -malloc_limit_mb=16 -rss_limit_mb=1024 -timeout=10 -artifact_prefix=build-fuzz/findings/ \
    "$work/$subject" >"$work/$subject.log" 2>&1
}
echo "== endpoint and vote: $seconds s"
fuzz endpoint &
endpoint=$!
fuzz vote &
vote=$!
outcome=0
wait $endpoint || { outcome=1; cat "$work/endpoint.log"; }
wait $vote || { outcome=1; cat "$work/vote.log"; }
tail -n 1 "$work"/*.log
exit $outcome
