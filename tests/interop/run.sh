#!/usr/bin/env bash
# Two libraries from npm and redlock, its readers as well, use one lock on five nodes: tests/interop/run.sh [TIMES]
#
# Each holds the lock while each of them asks for it once. Then all compete: each adds to a counter TIMES times, 60 by default,
# and readers look whether it moves under them.
#
# Uses build/bin/redlock, and installs the libraries with npm in a temporary folder. Where there is no npm, it says so,
# checks nothing and exits with 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [ "${1:-}" != --on-nodes ]; then
  if ! command -v npm >/dev/null; then
    echo "Skipped: there is no npm (Debian: npm), so no library of another language can be tried."
    exit 77
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  npm install --prefix "$work" --silent --no-audit --no-fund redlock@4.2.0 redis-semaphore@5.8.0 ioredis@5
  export work tool=$PWD/../../build/bin/redlock NODE_PATH=$work/node_modules
  "$tool" run --local 5 interop -- ./run.sh --on-nodes "${1:-60}"
  exit
fi

times=$2
resource=mutex:counter  # redis-semaphore puts "mutex:" before every name
all="writer reader redlock redis-semaphore"  # the last two are libraries
counter=$work/counter
hands=$work/hands
moves=$work/moves

# lock WHO COMMAND…: runs the command under the lock, after one attempt. Returns 9 if others have it.
lock() {
  case $1 in
    writer) "$tool" run --quiet --nonblock --conflict-exit-code 9 "$resource" -- "${@:2}" ;;
    reader) "$tool" run --quiet --nonblock --conflict-exit-code 9 --shared "$resource" -- "${@:2}" ;;
    *) node lock.js "$1" "$resource" 1 1 "${@:2}" ;;
  esac
}

# ask HOLDER: everybody asks for the lock while HOLDER has it.
ask() {
  local who expected outcome
  for who in $all; do
    expected=9
    [ "$1$who" != readerreader ] || expected=0
    outcome=0
    lock "$who" true || outcome=$?
    [ "$outcome" -eq "$expected" ] && continue
    echo "While $1 holds the lock, $who exits with $outcome, not $expected."
    return 1
  done
}

add() {
  local number
  number=$(<"$counter")
  sleep 0.002
  echo $((number + 1)) >"$counter"
  echo "$1" >>"$hands"
}

look_twice() {
  local number
  number=$(<"$counter")
  sleep 0.01
  [ "$(<"$counter")" = "$number" ] || echo moved >>"$moves"
}

# again WHO COMMAND…: runs the command TIMES times, each time under the lock.
again() {
  local time options=()
  case $1 in
    reader) options=(--shared) ;;&
    writer | reader)
      for ((time = 0; time < times; ++time)); do
        "$tool" run --quiet "${options[@]}" "$resource" -- "${@:2}"
        sleep 0.0"$((RANDOM % 5))"
      done
      ;;
    *) node lock.js "$1" "$resource" 1000000 "$times" "${@:2}" ;;
  esac
}

export -f lock ask add look_twice
export tool resource all counter hands moves

for holder in $all; do lock "$holder" bash -c "ask $holder"; done
echo "Of 16 pairs, two readers hold the lock together, and no other two."

echo 0 >"$counter"
touch "$moves"
competing=()
for who in writer writer redlock redis-semaphore; do
  again "$who" bash -c "add $who" &
  competing+=($!)
done
for _ in 1 2; do
  again reader bash -c look_twice &
  competing+=($!)
done
outcome=0
for process in "${competing[@]}"; do wait "$process" || outcome=1; done  # all, so that none is left

echo "The counter is $(<"$counter") after $((4 * times)) additions, and was handed from one kind of client to another" \
  "$(uniq "$hands" | wc -l) times. Readers looked $((2 * times)) times, and it moved $(wc -l <"$moves") times under them."
[ "$outcome" -eq 0 ] && [ "$(<"$counter")" -eq $((4 * times)) ] && [ ! -s "$moves" ]
