# Completion of redlock(1) for fish.
function __redlock_before_the_command
    not contains -- -- (commandline -opc)
end

complete -c redlock -f
complete -c redlock -n __fish_use_subcommand -a run -d 'Run a command under a lock'
complete -c redlock -n __fish_use_subcommand -a status -d 'See who holds a lock'
complete -c redlock -n __fish_use_subcommand -a nodes -d 'See which nodes vote'
complete -c redlock -n __fish_use_subcommand -l version -d 'Print the version'
complete -c redlock -n __redlock_before_the_command -s h -l help -d 'Print help'

set -l run '__fish_seen_subcommand_from run; and __redlock_before_the_command'
set -l any '__fish_seen_subcommand_from run status nodes; and __redlock_before_the_command'
complete -c redlock -n $any -l node -x -d 'A node, such as redis://10.0.0.1'
complete -c redlock -n $any -l nodes-file -r -F -d 'A file with one node per line'
complete -c redlock -n $any -l local -x -a '1 3 5' -d 'Start private servers'
complete -c redlock -n $any -l restart-guard -x -a 'automatic strict off' -d 'How to treat nodes that lost their data'
complete -c redlock -n $any -l durable-nodes -d 'The nodes lose nothing when they restart'
complete -c redlock -n $any -l max-ttl -x -d 'The longest ttl of locks on new nodes'
complete -c redlock -n $any -l key-prefix -x -d 'Prefix of every key'
complete -c redlock -n $run -l ttl -x -d 'How long the lock remains if redlock dies'
complete -c redlock -n $run -s n -l nonblock -d 'Give up at once if somebody else has the lock'
complete -c redlock -n $run -s w -l wait -x -d 'Give up after this time'
complete -c redlock -n $run -l node-wait -x -d 'How long to wait for restarted nodes'
complete -c redlock -n $run -s E -l conflict-exit-code -x -d 'Exit code if somebody else has the lock'
complete -c redlock -n $run -l kill-after -x -d 'How long before the deadline the command gets SIGTERM'
complete -c redlock -n $run -l at-least -x -d 'Keep the lock for at least this time'
complete -c redlock -n $run -l metrics -r -F -d 'Write metrics for Prometheus'
complete -c redlock -n $run -s q -l quiet -d 'Do not say what redlock waits for'
complete -c redlock -n $run -s v -l verbose -d 'Also say when the lock was taken'
complete -c redlock -n $run -l label -x -d 'Who holds the lock, shown to others'
complete -c redlock -n $run -l clean-env -d 'Keep the nodes out of the environment of the command'
complete -c redlock -n '__fish_seen_subcommand_from status' -l json -d 'Print JSON'
complete -c redlock -n '__fish_seen_subcommand_from nodes' -a set -d 'Allow locks with a longer ttl: --max-ttl'
complete -c redlock -n '__fish_seen_subcommand_from nodes' -l wait -d 'Wait until all nodes vote'
complete -c redlock -n '__fish_seen_subcommand_from nodes' -l timeout -x -d 'Give up after this time'
complete -c redlock -n 'not __redlock_before_the_command' -a '(__fish_complete_subcommand --fcs-skip=4)'
