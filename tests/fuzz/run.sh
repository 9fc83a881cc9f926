#!/usr/bin/env bash
# Installs missing packages, builds the fuzzers and runs all at once: tests/fuzz/run.sh [SECONDS, default 30]
# So each has only a part of the processors. One that made too few runs for that reason runs once more, when the others have
# ended, and fails if these are too few as well. A finding fails the run and is kept in build-fuzz/findings/. Once the error is
# fixed, the file goes to tests/fuzz/corpus/ under a descriptive name, and every run of the tests checks it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-30}
least=30  # runs with other inputs than those of the corpus

.ci/install clang libclang-rt-dev make cmake libhiredis-dev libssl-dev libcli11-dev nlohmann-json3-dev
subjects=(client endpoint environment listener marker metrics tls tool vote)
cmake --preset fuzz >/dev/null
nice -n 19 cmake --build --preset fuzz --parallel "$(nproc)" --target "${subjects[@]/%/-fuzzer}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build-fuzz/findings
export UBSAN_OPTIONS=print_stacktrace=1
fuzz() {
  local subject=$1 words=()
  cp -R "tests/fuzz/corpus/$subject" "$work"  # a copy, as libFuzzer adds new inputs
  if [ -e "tests/fuzz/$subject.dict" ]; then words=(-dict="tests/fuzz/$subject.dict"); fi
  # Short inputs suffice. An allocation above our limits is a finding, and so is an input that never ends. (That none takes much
  # work is for the fuzzers to check: the time of day also runs while others have the processors.)
  nice -n 5 build-fuzz/bin/$subject-fuzzer -max_total_time="$seconds" "${words[@]}" \
    -max_len=1200 -malloc_limit_mb=16 -rss_limit_mb=1024 -timeout=60 -artifact_prefix=build-fuzz/findings/ \
    "$work/$subject" >"$work/$subject.log" 2>&1
}
# Prints how many runs a fuzzer made, which begins with the corpus. Fails if that was nearly all: has_enough SUBJECT
has_enough() {
  local runs inputs
  runs=$(sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$work/$1.log")
  inputs=$(find "tests/fuzz/corpus/$1" -type f | wc -l)
  [ -n "$runs" ] || return 0  # it ended with a finding
  echo "$1: $runs runs, $inputs of them with the corpus"
  [ $((runs - inputs)) -ge $least ]
}

echo "== ${subjects[*]}: $seconds s"
declare -A running
for subject in "${subjects[@]}"; do
  fuzz "$subject" &
  running[$subject]=$!
done
outcome=0
for subject in "${subjects[@]}"; do
  wait "${running[$subject]}" || { outcome=1; cat "$work/$subject.log"; }
done
for subject in "${subjects[@]}"; do
  has_enough "$subject" && continue
  fuzz "$subject" || { outcome=1; cat "$work/$subject.log"; }
  has_enough "$subject" || { outcome=1; echo "$subject: too few runs, give it more seconds"; }
done
exit $outcome
