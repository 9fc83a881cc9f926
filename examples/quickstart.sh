#!/usr/bin/env bash
# From a bare machine to a lock on five Redis servers: installs what is missing, builds the library and one example,
# starts five servers, and looks into them while the example holds its lock.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.ci/install g++ make cmake libhiredis-dev redis-server redis-tools
source examples/servers.sh

say() { printf '\n== %s\n' "$*"; }

say "Building the library and examples/quick_start.cpp"
[ -f build/CMakeCache.txt ] || cmake --preset release -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_BENCHMARK=OFF
cmake --build build --target quick_start --parallel "$(nproc)"

say "Starting five Redis servers"
trap stop_servers EXIT
trap 'exit 130' INT TERM
start_servers 5
printf '%s\n' "${urls[@]}"

# How many of the servers have a key; nothing else is stored there.
nodes_with_lock() {
  local port count=0
  for port in "${ports[@]}"; do [ "$(on_port "$port" dbsize)" = 0 ] || count=$((count + 1)); done
  echo "$count"
}

show_nodes() {
  local port key
  for port in "${ports[@]}"; do
    key=$(on_port "$port" --scan | head -n 1)
    if [ -n "$key" ]; then
      printf 'node %s: "%s" is held by %s for %s ms at most\n' \
        "$port" "$key" "$(on_port "$port" get "$key")" "$(on_port "$port" pttl "$key")"
    else
      printf 'node %s: nobody holds a lock\n' "$port"
    fi
  done
}

# Until the nodes that have the lock are as many as told: -ge 3, -eq 0. At most ten seconds.
wait_for_nodes() {
  local i
  for ((i = 0; i < 200; ++i)); do
    if test "$(nodes_with_lock)" "$@"; then return 0; fi
    sleep 0.05
  done
  echo "$(nodes_with_lock) of ${#ports[@]} nodes have the lock" >&2
  return 1
}

# The example, every line at once and with the name of the process before it.
run() { stdbuf -oL build/bin/quick_start "${urls[@]}" 2>&1 | sed -u "s/^/$1: /"; }

say "Running the example: build/bin/quick_start ${urls[*]}"
run "first process" &
first=$!
wait_for_nodes -ge 3

say "What the servers have while the lock is held"
show_nodes

say "A second process asks for the same lock meanwhile"
run "second process" || true

wait "$first"
wait_for_nodes -eq 0
say "What the servers have after its release"
show_nodes

say "Stopping the servers. The example is examples/quick_start.cpp; tests/run.sh runs the tests."
