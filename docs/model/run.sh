#!/usr/bin/env bash
# Checks the models of the fencing tokens, also with readers, and of the waiting line: docs/model/run.sh [--full]
#
# Without --full it needs two to three minutes and 0.8 GB, with it twelve minutes and 3.3 GB. Short searches take half of the time
# if tcc is installed. What the lines mean is in ../model.md.
set -euo pipefail
models=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case "$#:${1:-}" in
  0:) full=false ;;
  1:--full) full=true ;;
  *) echo "usage: $0 [--full]" >&2; exit 2 ;;
esac
for tool in spin cc; do
  command -v "$tool" >/dev/null && continue
  echo "The program $tool is missing. Needed are spin and a C compiler; on Debian: apt-get install spin gcc libc6-dev" >&2
  exit 2
done

# A long search is worth a compiler that optimizes; for a short one, compiling takes longer than searching.
long_search=(cc -O1)
! $full || long_search=(cc -O2)
short_search=(cc -O0)
! command -v tcc >/dev/null || short_search=(tcc)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"
cp "$models"/*.pml .
passed=0 failed=0
model=fencing.pml  # the one that is checked

# A misspelt variant would be no variant.
understood() {
  local flag word
  for flag in "$@"; do
    word=${flag#-D}
    grep -qw -- "${word%%=*}" ./*.pml || { echo "error: the model knows no ${word%%=*}"; return 1; }
  done
}

# search COMPILER COMPILER_FLAG… -- MODEL_FLAG…: leaves what the search said in the file `log`. The limits are there to be noticed.
search() {
  local compiler=()
  while [ "$1" != -- ]; do compiler+=("$1"); shift; done
  shift
  rm -f pan* ./*.trail
  understood "$@" >log || return 0
  spin -a "$@" "$model" >log 2>&1 || return 0
  "${compiler[@]}" -w "${SEARCH:--DSAFETY}" -DNOFAIR -DMEMLIM="${MEMORY_MB:-6000}" -o pan pan.c >>log 2>&1 || return 0
  ./pan ${SEARCH:+-l} -m"${DEPTH:-100000}" -w24 >>log 2>&1 || true
}

said() { grep -qE -- "$1" log; }

figures() {
  awk '/states, stored/ { states = $1 } /depth reached/ { depth = $6 + 0 } /total actual memory/ { memory = $1 }
       /elapsed time/ { time = $4 } END { printf "%.0f states, depth %d, %.1f s, %d MB", states, depth, time, memory }' log
}

# verdict TEXT WANTED FOUND
verdict() {
  printf '  %-54s %-10s %s\n' "$1" "$3" "$(figures)"
  if [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  echo "  ^ FAILED: it should be: $2. The end of what was said:"
  tail -n 30 log
}

# Only a search that has seen every state says anything: not one that was cut short, and none that keeps states as bits.
found() {
  if said 'assertion violated' && said 'errors: [1-9]'; then
    echo "${1:-refuted}"
  elif said 'errors: 0$' && said '^Full statespace search for:' && said 'assertion violations.*\+' &&
    said 'invalid end states.*\+' && said 'elapsed time' &&
    ! said 'not completed|max search depth too small|reached -DMEMLIM|out of memory|Bit statespace|hash-compact|[Ee]rror:'; then
    echo holds
  else
    echo unfinished
  fi
}

holds() {
  search "${long_search[@]}" -- "${@:2}"
  verdict "$1" holds "$(found)"
}

# Every run comes to its end: there are no cycles. The models name no progress, so each cycle would be one without it.
ends() {
  local outcome=unfinished
  SEARCH=-DNP search "${long_search[@]}" -- "${@:2}"
  if said 'errors: 0$' && said 'non-progress cycles.*\+' && said 'elapsed time' &&
    ! said 'not completed|max search depth too small|reached -DMEMLIM|out of memory|[Ee]rror:'; then
    outcome=ends
  fi
  verdict "$1" ends "$outcome"
}

story() { spin -k "$model.trail" -B -T "$@" "$model" | grep -vE '^spin:|^ *$' | sed 's/^/      /'; }

# Breadth first: what is found is as short as possible.
refuted() {
  search "${short_search[@]}" -DBFS -- "${@:2}"
  verdict "$1" refuted "$(found)"
  [ ! -f "$model.trail" ] || [[ " $* " == *" -DSORTED "* ]] || story "${@:2}"
}

reached() {
  search "${short_search[@]}" -DBFS -- "${@:2}"
  verdict "$1" reached "$(found reached)"
}

three=(-DCLIENTS=3 -DTRIES=1)
retry=(-DCLIENTS=2 -DTRIES=2)

echo "Tokens are unique and in order:"
holds "3 clients, 1 attempt each, pruned" "${three[@]}" -DSORTED -DPRUNED
holds "the same, with proposals" "${three[@]}" -DSORTED -DPRUNED -DPROPOSAL=3
if $full; then
  holds "3 clients, 1 attempt each" "${three[@]}" -DSORTED
  holds "2 clients, 2 attempts each, pruned" "${retry[@]}" -DSORTED -DPRUNED
  holds "3 clients, 1 attempt each, nodes not sorted" "${three[@]}"
  holds "3 clients, 1 attempt each, with proposals" "${three[@]}" -DSORTED -DPROPOSAL=2
  holds "2 clients, 2 attempts each, pruned, with proposals" "${retry[@]}" -DSORTED -DPRUNED -DPROPOSAL=2
fi

echo "What has to happen for that to mean anything:"
reached "two acquisitions are complete" "${three[@]}" -DREACH_TWO_COMPLETE
reached "one is complete after a second round" "${three[@]}" -DREACH_SECOND_ROUND
reached "a node is repaired" "${three[@]}" -DREACH_REPAIR
reached "a node is left out because the others refuse its number" "${three[@]}" -DREACH_SMALLER_TOKEN
reached "one is complete after its client had given up before" "${retry[@]}" -DREACH_RETRY

echo "Broken, and found out:"
for variant in TOKEN_IS_MAXIMUM NO_OWNER_CHECK ACK_FROM_UNFOLDED_GRANT SMALLER_TOKEN_KEEPS_ACKS REPAIR_ACKNOWLEDGES \
  FORGETFUL_NODE
do
  refuted $variant "${three[@]}" -D$variant
done
# Their stories are long; with the nodes sorted they are found in a tenth of the time, but the names change on the way.
sorted=(-DSORTED)
! $full || sorted=()
refuted STRAGGLER_KEEPS_ACKS "${three[@]}" -DSTRAGGLER_KEEPS_ACKS "${sorted[@]}"
refuted OWNER_ONLY_CONFIRM_AND_REGRANT "${retry[@]}" -DOWNER_ONLY_CONFIRM_AND_REGRANT "${sorted[@]}"
refuted OWNER_ONLY_CONFIRM "${three[@]}" -DOWNER_ONLY_CONFIRM "${sorted[@]}"

if $full; then
  echo "Left out without harm to the tokens:"
  for variant in COUNTER_ONLY_CONFIRM REPAIR_KEEPS_COUNTER GRANT_REGARDLESS; do
    holds $variant "${three[@]}" -D$variant -DSORTED
  done
fi

readers=("${three[@]}" -DSORTED -DPRUNED -DPUT_BACKS=0)
echo "With readers, tokens are in order, and there is one writer or readers:"
holds "tokens of 1 reader and 2 writers" "${readers[@]}" -DREADERS=1
holds "exclusion of 1 reader and 2 writers" "${readers[@]}" -DREADERS=1 -DEXCLUSION
if $full; then
  holds "tokens of 2 readers and 1 writer" "${readers[@]}" -DREADERS=2
  holds "exclusion of 2 readers and 1 writer" "${readers[@]}" -DREADERS=2 -DEXCLUSION
  readers=("${three[@]}" -DSORTED -DPRUNED -DPUT_BACKS=1)
  holds "tokens of 1 reader and 2 writers, a reader opens again" "${readers[@]}" -DREADERS=1
  holds "tokens of 2 readers and 1 writer, a reader opens again" "${readers[@]}" -DREADERS=2
  holds "exclusion of 1 reader, 2 writers, a reader opens again" "${readers[@]}" -DREADERS=1 -DEXCLUSION
  holds "tokens of 1 reader and 2 writers, with proposals" "${readers[@]}" -DREADERS=1 -DPROPOSAL=2
fi

echo "What has to happen for that to mean anything:"
reached "two readers hold the lock" "${three[@]}" -DREADERS=2 -DEXCLUSION -DREACH_TWO_READERS
reached "a reader puts a copy back" "${three[@]}" -DREADERS=2 -DREACH_PUT_BACK

echo "Broken, and found out:"
refuted OPENING_WITHOUT_RAISE "${three[@]}" -DREADERS=1 -DOPENING_WITHOUT_RAISE
# Its story is too long for a search without the reductions.
refuted PUT_BACK_WITHOUT_RAISE "${three[@]}" -DREADERS=2 -DPUT_BACK_WITHOUT_RAISE -DSORTED -DPRUNED
refuted "READER_OF_ONE_NODE: its token" "${three[@]}" -DREADERS=1 -DREADER_OF_ONE_NODE
for variant in READER_OF_ONE_NODE WRITER_OF_ONE_NODE EXTEND_WITHOUT_LOCK; do
  refuted $variant "${three[@]}" -DREADERS=1 -DEXCLUSION -D$variant
done
for variant in EXTEND_WITHOUT_SET OPENING_KEEPS_STRANGERS; do
  refuted $variant "${three[@]}" -DREADERS=2 -DEXCLUSION -D$variant
done

model=line.pml
echo "At most one head of the line acts, nobody waits for ever, and nothing is left:"
holds "3 clients, 1 call each" -DCLIENTS=3 -DCALLS=3
holds "2 clients, 3 calls, one dies or is paused" -DCLIENTS=2 -DCALLS=3 -DFAULTS=1
ends "every run ends: 3 clients, 1 call each" -DCLIENTS=3 -DCALLS=3
ends "the same: 2 clients, one dies or is paused" -DCLIENTS=2 -DCALLS=2 -DFAULTS=1

echo "What has to happen for that to mean anything:"
reached "a head is displaced while it acts" -DCLIENTS=2 -DCALLS=3 -DREACH_DISPLACED

echo "Broken, and found out:"
for variant in DISPLACED_UNTOLD NEXT_UNTOLD NOT_READ PUSH_FORGOTTEN; do
  refuted $variant -DCLIENTS=2 -DCALLS=3 -D$variant
done
refuted LIFE_IGNORED -DCLIENTS=2 -DCALLS=3 -DFAULTS=1 -DLIFE_IGNORED
refuted LOWER_ANY -DCLIENTS=2 -DCALLS=4 -DLOWER_ANY

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
