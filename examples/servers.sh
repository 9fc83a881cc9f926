# shellcheck shell=bash
# Redis servers for the examples, to be sourced: start_servers 5 fills the arrays `ports` and `urls`, and
# stop_servers ends them and removes their files. They listen on free loopback ports and keep nothing.
ports=()
urls=()
server_pids=()
server_dir=
server_program=${REDLOCK_SERVER:-$(command -v redis-server || command -v valkey-server || true)}
client_program=$(command -v redis-cli || command -v valkey-cli || true)

on_port() { "$client_program" -h 127.0.0.1 -p "$1" --raw "${@:2}" 2>/dev/null; }

# Whether the server that answers on the port is the process that we started: somebody else's may have been first.
answers() { on_port "$1" info server | grep -q "^process_id:$2[^0-9]*$"; }

start_server() {
  local port pid patience
  while true; do
    port=$((20000 + RANDOM % 10000))
    "$server_program" --bind 127.0.0.1 --port "$port" --dir "$server_dir" --save '' --appendonly no \
      >"$server_dir/$port.log" 2>&1 &
    pid=$!
    for ((patience = 0; patience < 300; ++patience)); do
      answers "$port" "$pid" && break 2
      kill -0 "$pid" 2>/dev/null || break  # the port is taken
      sleep 0.05
    done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    tail -n 1 "$server_dir/$port.log" >&2
  done
  ports+=("$port")
  urls+=("redis://127.0.0.1:$port")
  server_pids+=("$pid")
}

start_servers() {
  if [ -z "$server_program" ] || [ -z "$client_program" ]; then
    echo "redis-server and redis-cli are needed" >&2
    return 1
  fi
  server_dir=$(mktemp -d)
  local i
  for ((i = 0; i < $1; ++i)); do start_server; done
}

stop_servers() {
  if [ ${#server_pids[@]} -gt 0 ]; then
    kill -9 "${server_pids[@]}" 2>/dev/null || true
    wait "${server_pids[@]}" 2>/dev/null || true
  fi
  [ -z "$server_dir" ] || rm -rf "$server_dir"
  ports=() urls=() server_pids=() server_dir=
}
