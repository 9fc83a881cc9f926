# Completion of redlock(1) for bash.
_redlock() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      # After -- comes another command, which has its own completion.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      fi
      return
    fi
  done
  case $previous in
    --metrics | --nodes-file | --password-file | --cacert | --cacertdir | --cert | --key)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    --restart-guard)
      mapfile -t COMPREPLY < <(compgen -W 'automatic strict off' -- "$word")
      return
      ;;
    --tls-min-version)
      mapfile -t COMPREPLY < <(compgen -W '1.2 1.3' -- "$word")
      return
      ;;
    --for)
      mapfile -t COMPREPLY < <(compgen -W 'plain fenced renewed waiting shared operator' -- "$word")
      return
      ;;
    --order)
      mapfile -t COMPREPLY < <(compgen -W 'fifo none' -- "$word")
      return
      ;;
    --node | --local | --max-ttl | --key-prefix | --server-name | --tls-ciphers | --tls-ciphersuites | --ttl | --lock-delay | --seats | --wait | -w | --conflict-exit-code | -E | --kill-after | --at-least | --label | --candidate | --node-wait | --timeout | --owner | --resource | --user) return ;;
  esac
  local words nodes='--node --nodes-file --password-file --local --restart-guard --durable-nodes --max-ttl --key-prefix --cacert --cacertdir --cert --key --server-name --tls-min-version --tls-ciphers --tls-ciphersuites --insecure-skip-verify'
  case ${COMP_WORDS[1]} in
    run) words="$nodes --ttl --lock-delay --seats --shared -n --nonblock -w --wait --node-wait --order -E --conflict-exit-code --kill-after --at-least --metrics --revocable -q --quiet -v --verbose --label --clean-env --help --" ;;
    elect) words="$nodes --candidate --ttl --lock-delay --kill-after --metrics --revocable -q --quiet -v --verbose --clean-env --help --" ;;
    leader) words="$nodes --json --watch --help" ;;
    status | watch) words="$nodes --json --seats --help" ;;
    list | check) words="$nodes --json --help" ;;
    release) words="--force --owner --yes $nodes --help" ;;
    revoke) words="$nodes --help" ;;
    nodes) words="init set $nodes --json --resource --wait --timeout --help" ;;
    acl) words='--for --key-prefix --user --help' ;;
    *) words='run elect leader status list watch release revoke check nodes acl --help --version' ;;
  esac
  if [[ $COMP_CWORD -eq 1 || ${COMP_WORDS[1]} == nodes || $word == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); fi
}
complete -F _redlock redlock
