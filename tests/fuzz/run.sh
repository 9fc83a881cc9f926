#!/usr/bin/env bash
# Installs missing packages, builds the fuzzers and runs them, two at a time for each processor:
#
#   tests/fuzz/run.sh [SECONDS]   each for so long (30)
#   tests/fuzz/run.sh --merge     adds to tests/fuzz/corpus/ what earlier runs have found, if it reaches code that nothing there
#                                 does, and drops from what they have found all that the rest makes needless
#
# A fuzzer begins with tests/fuzz/corpus/ and with some of what earlier runs have found, which is kept in build-fuzz/corpus/. It
# fails if it makes hardly any runs of its own. A finding fails the run and is kept in build-fuzz/findings/. Once the error is
# fixed, the file goes to tests/fuzz/corpus/ under a descriptive name, and every run of the tests checks it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
task=fuzz
export seconds=30
case ${1:-} in
  --merge) task=merge ;;
  ?*) seconds=$1 ;;
esac
least=$seconds  # runs with new inputs: about a tenth of what the slowest makes with half a processor

.ci/install clang libclang-rt-dev make cmake libhiredis-dev libssl-dev libcli11-dev nlohmann-json3-dev
subjects=(client endpoint environment listener marker metrics tls tool vote)
cmake --preset fuzz >/dev/null
nice -n 19 cmake --build --preset fuzz --parallel "$(nproc)" --target "${subjects[@]/%/-fuzzer}"

export work UBSAN_OPTIONS=print_stacktrace=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Short inputs suffice. An allocation above our limits is a finding, and so is an input that never ends. (That none takes much
# work is for the fuzzers to check: the time of day also runs while others have the processors.)
run() {
  nice -n 5 "build-fuzz/bin/$1-fuzzer" -max_len=1200 -malloc_limit_mb=16 -rss_limit_mb=1024 -timeout=60 \
    -artifact_prefix=build-fuzz/findings/ "${@:2}" >>"$work/$1.log" 2>&1 || touch "$work/$1.failed"
}
# Takes only as many of the kept inputs as run in a few seconds, so that most of the time is for new ones. These go to the first
# folder.
fuzz() {
  local kept=build-fuzz/corpus/$1 ours=tests/fuzz/corpus/$1 words=()
  echo "== $1: $seconds s"
  mkdir "$work/$1"
  find "$kept" -type f | shuf -n $((seconds * 5)) | xargs -r cp -t "$work/$1"
  find "$work/$1" "$ours" -type f | wc -l >"$work/$1.inputs"
  [ ! -e "tests/fuzz/$1.dict" ] || words=(-dict="tests/fuzz/$1.dict")
  run "$1" -max_total_time="$seconds" "${words[@]}" "$work/$1" "$ours"
  cp -R "$work/$1/." "$kept"
}
# Our corpus gets few inputs, which together reach all code. To the fuzzer it matters also how often code runs.
merge() {
  local kept=build-fuzz/corpus/$1 ours=tests/fuzz/corpus/$1
  mkdir "$work/$1"
  run "$1" -set_cover_merge=1 -use_counters=0 "$ours" "$kept"
  run "$1" -merge=1 "$work/$1" "$kept"
  [ -e "$work/$1.failed" ] || { rm -r "$kept" && mv "$work/$1" "$kept"; }
  echo "$1: $(find "$ours" -type f | wc -l) inputs in $ours, $(find "$kept" -type f | wc -l) in $kept"
}
export -f run fuzz merge

mkdir -p build-fuzz/findings "${subjects[@]/#/build-fuzz/corpus/}"
outcome=0
printf '%s\n' "${subjects[@]}" | xargs -P $((2 * $(nproc))) -I SUBJECT bash -euc "$task SUBJECT" || outcome=1

for subject in "${subjects[@]}"; do
  if [ -e "$work/$subject.failed" ]; then
    outcome=1
    cat "$work/$subject.log"
  elif [ $task = fuzz ]; then
    runs=$(sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$work/$subject.log" || true)
    inputs=$(cat "$work/$subject.inputs" || true)
    echo "$subject: $runs runs, $inputs of them with known inputs"
    [ $((runs - inputs)) -ge $least ] || { outcome=1; echo "$subject: too few others, give it more seconds"; }
  fi
done
exit $outcome
