// What --help says about the commands, beside their options.
#pragma once

namespace redlock::tool {

inline constexpr const char* about =
    "Runs a command under a distributed lock on a majority of independent Redis nodes.\n\n"
    "Try it on five private servers:\n"
    "  redlock run --local 5 demo -- sh -c 'echo $REDLOCK_OWNER'\n\n"
    "Run one backup at a time across all machines, then see who holds the lock:\n"
    "  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3\n"
    "  redlock run -n backup -- backup.sh\n"
    "  redlock status backup\n";

inline constexpr const char* about_run =
    "Runs CMD while holding the lock RESOURCE. Extends the lock while CMD runs and releases it afterwards.\n"
    "CMD never outlives the lock: if the lock cannot be extended, CMD's process group gets SIGTERM, and\n"
    "SIGKILL just before the lock's deadline. CMD's environment contains REDLOCK_RESOURCE, REDLOCK_OWNER,\n"
    "REDLOCK_FENCING_TOKEN, REDLOCK_SEQUENCER (see redlock check) and REDLOCK_DEADLINE_MS (measured by\n"
    "CLOCK_BOOTTIME).\n\n"
    "With several RESOURCEs, takes all of their locks or none, and CMD ends if one is lost. The variables\n"
    "of the first are REDLOCK_RESOURCE_1, REDLOCK_OWNER_1 and REDLOCK_FENCING_TOKEN_1, and so on.";

inline constexpr const char* run_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  CMD's own, or 128 + N if signal N ended CMD or the wait for the lock\n"
    "  1    somebody else has the lock (change this code with -E)\n"
    "  64   wrong usage or configuration\n"
    "  69   no majority of the nodes was available\n"
    "  70   the system refused memory, a process or the like\n"
    "  72   the lock was lost: CMD was terminated, or had ended by itself when this was found out\n"
    "  126  CMD is not executable\n"
    "  127  CMD was not found";

inline constexpr const char* about_elect =
    "Runs CMD while this candidate leads: while it holds the lock NAME, as redlock run does. After a loss, "
    "CMD "
    "is\n"
    "terminated, and started again when this candidate leads again. Ends with CMD, and resigns. Those who "
    "wait\n"
    "stand in line. Once CMD has run, redlock waits also while too few nodes answer.";

inline constexpr const char* elect_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  CMD's own, or 128 + N if signal N ended CMD or the wait for the lock\n"
    "  64   wrong usage or configuration\n"
    "  69   no majority of the nodes was available before CMD ran for the first time\n"
    "  70   the system refused memory, a process or the like\n"
    "  72   the lock was lost: CMD was terminated, and a signal came before redlock stood for election\n"
    "       again; or CMD had ended by itself when this was found out\n"
    "  126  CMD is not executable\n"
    "  127  CMD was not found";

inline constexpr const char* about_leader =
    "Prints who leads in the election NAME, with the fencing token, or that nobody does. With --watch, "
    "prints "
    "a\n"
    "line for each new leader, as soon as most of the nodes report it. Changes nothing.";

inline constexpr const char* leader_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    somebody leads; with --watch: ended by SIGINT or SIGTERM\n"
    "  1    nobody leads\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered to tell\n"
    "  74   the output could not be written\n"
    "  128+N  with --watch: ended by signal N";

inline constexpr const char* about_status =
    "Asks every node who holds the lock RESOURCE, and prints the answers and the result. Changes nothing.";

inline constexpr const char* status_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the result is certain: the lock is held or free\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered to tell\n"
    "  74   the output could not be written";

inline constexpr const char* about_list =
    "Prints what is locked: each resource that begins with PREFIX, or every one. Changes nothing. Goes "
    "through the\n"
    "keys of the nodes in small steps, so it delays no client, and needs little memory. COPIES says how "
    "many\n"
    "nodes have the holder's value: a lock is held if most of them do. Locks that are taken or released\n"
    "meanwhile may be missing.";

inline constexpr const char* list_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the list is complete\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered, so locks may be missing\n"
    "  74   the output could not be written";

inline constexpr const char* about_watch =
    "Prints who holds the lock RESOURCE, and a line whenever that changes: held, free, or unknown because "
    "too few\n"
    "nodes answer. The nodes report changes; what is over before they can be asked who the holder is, is "
    "not\n"
    "seen. Changes nothing. Ends with Ctrl-C or SIGTERM.";

inline constexpr const char* watch_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    ended by SIGINT or SIGTERM\n"
    "  64   wrong usage or configuration\n"
    "  74   the output could not be written\n"
    "  128+N  ended by signal N";

inline constexpr const char* about_release =
    "Ends the lock RESOURCE although another process holds it: deletes its copies on all nodes where they "
    "still\n"
    "belong to that holder. The holder loses the lock, and redlock run kills its command. Without --owner,\n"
    "shows who holds the lock and asks. If readers share it (redlock run --shared), ends it for all of "
    "them,\n"
    "or for the one of --owner.";

inline constexpr const char* about_revoke =
    "Asks the holder of the lock RESOURCE to give it up, and says who that is. The lock does not change: "
    "the\n"
    "holder decides. If readers share the lock, asks all of them. redlock run --revocable ends its command; "
    "a program learns of it by on_revoke.";
inline constexpr const char* revoke_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the holder was asked\n"
    "  1    nobody holds the lock\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered; those that did have asked their holder\n"
    "  70   the system refused memory, a process or the like\n"
    "  74   the output could not be written";

inline constexpr const char* release_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the lock was released\n"
    "  1    nothing was released: the lock is free, somebody else holds it, or the answer was no\n"
    "  64   wrong usage or configuration; also if there is no terminal to ask on\n"
    "  69   too few nodes answered, so the holder may still have the lock\n"
    "  74   the output could not be written";

inline constexpr const char* about_check =
    "Asks the nodes whether the lease that SEQUENCER names is held, and prints valid, stale or unknown. This "
    "is\n"
    "how it was a moment ago: the lease may end at any time, so compare fencing tokens where that matters.\n"
    "Changes nothing.";

inline constexpr const char* check_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    valid: most of the nodes have shown this holder\n"
    "  1    stale: the lease is over\n"
    "  64   wrong usage or configuration; also if SEQUENCER is not a sequencer\n"
    "  69   too few nodes answered to tell\n"
    "  74   the output could not be written";

inline constexpr const char* about_nodes =
    "Prints how each node is, what is wrong with the nodes and what to do about it. Changes nothing. Needs "
    "no\n"
    "other rights than locks do, and says what it could not see.\n\n"
    "With --wait, waits until all nodes vote, for scripts that restart one node after the other; tries this\n"
    "with a lock of its own, which has a random name that begins with redlock-nodes-.";

inline constexpr const char* about_init =
    "Begins a deployment on new nodes, as the first lock would, but only if all nodes are there, so that "
    "none\n"
    "of them has to wait. Locks may then have a ttl of up to --max-ttl. If there is a deployment already, "
    "says so\n"
    "and changes nothing.";

inline constexpr const char* init_footer =
    "Takes the options of redlock nodes that say which nodes, how to reach them and what they allow, from\n"
    "--node to --insecure-skip-verify, and --resource, before or after init.\n\n"
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    there is a deployment, and all nodes vote\n"
    "  64   wrong usage or configuration\n"
    "  69   some nodes are not reachable, or do not vote\n"
    "  74   the output could not be written";

inline constexpr const char* about_set =
    "Allows locks with a ttl of up to --max-ttl on all nodes. Running clients follow without a restart. All\n"
    "nodes must be reachable and in use. Takes two seconds. The limit is never lowered.";

inline constexpr const char* set_footer =
    "Takes --max-ttl TIME and the other options of redlock nodes that say which nodes and how to reach "
    "them,\n"
    "from --node to --insecure-skip-verify, before or after set.\n\n"
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    all nodes have the limit\n"
    "  64   wrong usage or configuration\n"
    "  69   some nodes are not reachable or lost their data; run it again when they are well\n"
    "  74   the output could not be written";

inline constexpr const char* nodes_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the nodes are healthy; with --wait: all nodes vote\n"
    "  1    degraded: locks can be had, but something should be put right\n"
    "  2    unsafe: no lock can be had, or two may hold the same one\n"
    "  64   wrong usage; with --wait also: the nodes can never vote as they are configured\n"
    "  69   with --wait: some nodes do not vote\n"
    "  74   the output could not be written";

inline constexpr const char* about_acl =
    "Prints the line that makes a user on a server who may do what --for says with locks of this prefix, "
    "and\n"
    "nothing else. Run it on every node, with a password instead of PASSWORD. Contacts no node.";

inline constexpr const char* acl_footer =
    "Exit codes:\n"
    "  0    the line was printed\n"
    "  64   wrong usage\n"
    "  74   the output could not be written";

}  // namespace redlock::tool
