// The Lua scripts of shared locks.
#pragma once

#include <string_view>

#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

// While readers hold a lock, its key KEYS[1] has the value `held_by_readers`, and lives as long as the longest of them. The set
// KEYS[3] has their ids, and each reader has a key of its own with its owner value: the set's name, a colon and the id. A
// reader's copy counts only if all three say so. Whoever finds the lock free *opens* it for readers: that deletes the keys of all
// readers whose ids are still in the set, and raises the counter, so none of their copies counts again. Further readers *join*
// and leave the counter as it is.
//
// A writer takes and releases KEYS[1] by the scripts of exclusive locks, which know nothing of readers. So the other keys may
// outlive the lock of the readers, until the next ones open it or until they expire.
//
// What may fail comes before the lock's key is set.
//
// The names of other readers' keys are derived from the set, so they are not among KEYS. Single servers do not mind.

/// Grants a shared lock: opens it for readers, or joins them, and returns the counter. If a writer has the lock, changes
/// nothing and returns the key's value and PTTL. KEYS and ARGV are those of `grant_script`, with the set as KEYS[3], and so are
/// the replies. If ARGV[5] is not empty, the writer with that owner value becomes a reader: the lock is opened as if it were free,
/// and nobody else is granted.
inline constexpr Script shared_grant_script{
    "local call,try=redis.call,redis.pcall "
    "local flag=#KEYS%2==0 and KEYS[#KEYS] "
    "local guard=KEYS[5] "
    "if guard then "
    "local marker,left=call('GETRANGE',KEYS[4],0,511),call('PTTL',guard) "
    "if left~=-2 or string.sub(marker,1,#ARGV[6])~=ARGV[6] or not string.find(marker,ARGV[7],1,true) then "
    "return redis.error_reply('UNMARKED '..left..' ms of quarantine are left') end end "
    "local ttl=call('PTTL',KEYS[1]) "
    "local value=call('GETRANGE',KEYS[1],0,1023) "
    "local adopted=ARGV[5] "
    "local opens=adopted=='' and ttl==-2 or adopted~='' and value==adopted "
    "local joins=adopted=='' and value=='redlock:shared' "
    "if flag and call('EXISTS',flag)==1 or not opens and not joins then "
    "return {value,value~='' and ttl or call('PTTL',flag or KEYS[1])} end "
    "local text=try('GET',KEYS[2]) "
    "local counter=tonumber(text or 0) "
    "if not counter or counter<0 or counter%1~=0 or counter>9007199254740990 then "
    "if type(text)=='table' and not string.find(text.err,'WRONGTYPE') then return text end "
    "return redis.error_reply('BADCOUNTER '..KEYS[2]..' is not a whole number from 0 to 2^53-2') end "
    "if opens then "
    "for _,id in ipairs(call('SMEMBERS',KEYS[3])) do call('DEL',KEYS[3]..':'..id) end "
    "call('DEL',KEYS[3]) end "
    "local id=string.sub(ARGV[1],1,16) "
    "local own=KEYS[3]..':'..id "
    "local lives=joins and math.max(ARGV[2],ttl) or ARGV[2] "
    "call('SADD',KEYS[3],id) "
    "call('PEXPIRE',KEYS[3],lives) "
    "call('SET',own,ARGV[1],'PX',ARGV[2]) "
    "local raised=counter "
    "if opens or counter==0 then "
    "raised=ARGV[3] "
    "local ahead=raised-counter "
    "if ahead<1 then raised=counter+1 "
    "elseif ahead>3600000000 or counter>9e15 then "
    "local time=call('TIME') "
    "raised=math.max(counter+1,math.min(raised,time[1]*1000000+time[2]+86400000000,9e15)) end "
    "local set=ARGV[4]=='0' and try('SET',KEYS[2],raised) or try('SET',KEYS[2],raised,'PX',ARGV[4]) "
    "if set.err then call('DEL',own) call('SREM',KEYS[3],id) return set end end "
    "call('SET',KEYS[1],'redlock:shared','PX',lives) "
    "if ARGV[4]~='0' then call('PEXPIRE',KEYS[2],ARGV[4]) end "
    "return tonumber(raised)",
    "6ad02609f6e3467772c382a628a8df3dbfc15436"};

/// Prolongs the reader's own key, the set and the lock to at least ARGV[2] ms, and returns 1 if the reader has a copy. Else
/// returns 0, or -1 if a writer has the lock. If there is a counter, it is kept for ARGV[3] ms more.
inline constexpr Script shared_extend_script{
    "local call=redis.call "
    "local id=string.sub(ARGV[1],1,16) "
    "local own=KEYS[3]..':'..id "
    "local value=call('GETRANGE',KEYS[1],0,14) "
    "if value~='redlock:shared' then return value=='' and 0 or -1 end "
    "if call('GETRANGE',own,0,#ARGV[1])~=ARGV[1] or call('SISMEMBER',KEYS[3],id)==0 then return 0 end "
    "for _,key in ipairs({own,KEYS[3],KEYS[1]}) do "
    "if call('PTTL',key)<tonumber(ARGV[2]) then call('PEXPIRE',key,ARGV[2]) end end "
    "if ARGV[3]~='0' then call('PEXPIRE',KEYS[2],ARGV[3]) end "
    "return 1",
    "8774a9c7bf8a05f631761c518e59311b7eb96c94"};

/// Gives a reader that already has its token ARGV[3] its copy back and returns 1: joins the other readers, or opens the lock if
/// it is free. The counter becomes at least the token, and at least one more than it was when the lock is opened: it exceeds
/// the tokens of all writers that this node knows. Returns 0 and changes nothing if the reader has a copy or a writer has the
/// lock, and -1 if the counter would rise by more than a confirmation may raise it.
inline constexpr Script shared_put_back_script{
    "local call=redis.call "
    "local id=string.sub(ARGV[1],1,16) "
    "local own=KEYS[3]..':'..id "
    "local ttl=call('PTTL',KEYS[1]) "
    "local opens=ttl==-2 "
    "if not opens and call('GETRANGE',KEYS[1],0,14)~='redlock:shared' then return 0 end "
    "if not opens and call('SISMEMBER',KEYS[3],id)==1 and call('GETRANGE',own,0,#ARGV[1])==ARGV[1] then "
    "return 0 end "
    "local text=redis.pcall('GET',KEYS[2]) or 0 "
    "local counter=tonumber(text) "
    "if not counter or counter<0 or counter%1~=0 or counter>9007199254740990 then "
    "if type(text)=='table' and not string.find(text.err,'WRONGTYPE') then return text end "
    "return redis.error_reply('BADCOUNTER '..KEYS[2]..' is not a whole number from 0 to 2^53-2') end "
    "if ARGV[3]-counter>1e6 then "
    "local time=call('TIME') "
    "if tonumber(ARGV[3])>math.min(time[1]*1000000+time[2]+172800000000,9e15) then return -1 end end "
    "if opens then "
    "for _,id in ipairs(call('SMEMBERS',KEYS[3])) do call('DEL',KEYS[3]..':'..id) end "
    "call('DEL',KEYS[3]) end "
    "local lives=math.max(ARGV[2],ttl) "
    "call('SADD',KEYS[3],id) "
    "call('PEXPIRE',KEYS[3],lives) "
    "counter=math.max(opens and counter+1 or counter,ARGV[3]) "
    "if ARGV[4]=='0' then call('SET',KEYS[2],counter) else call('SET',KEYS[2],counter,'PX',ARGV[4]) end "
    "call('SET',own,ARGV[1],'PX',ARGV[2]) "
    "call('SET',KEYS[1],'redlock:shared','PX',lives) "
    "return 1",
    "c9305c54e139a09d41a364350a366e2dfd64a5a0"};

/// Deletes the copy of the reader ARGV[1] and returns 1 if it had one, else returns 0. The last reader frees the lock KEYS[1], and
/// if the one leaves whose copy would have lived longest, the lock lives as long as the longest of the others. Here, the set is
/// KEYS[2].
inline constexpr Script shared_release_script{
    "local call=redis.call "
    "local id=string.sub(ARGV[1],1,16) "
    "local own=KEYS[2]..':'..id "
    "if call('GETRANGE',own,0,#ARGV[1])~=ARGV[1] then return 0 end "
    "local mine=call('PTTL',own) "
    "call('DEL',own) "
    "local released=call('SREM',KEYS[2],id) "
    "if call('GETRANGE',KEYS[1],0,14)~='redlock:shared' then return 0 end "
    "local longest=-2 "
    "for _,other in ipairs(call('SMEMBERS',KEYS[2])) do "
    "local left=call('PTTL',KEYS[2]..':'..other) "
    "if left==-1 or left>=mine then return released end "
    "if left==-2 then call('SREM',KEYS[2],other) end "
    "longest=math.max(longest,left) end "
    "if longest==-2 then call('DEL',KEYS[1],KEYS[2]) return released end "
    "for _,key in ipairs(KEYS) do call('PEXPIRE',key,math.max(longest,1)) end "
    "return released",
    "bebc676e393fee31822fbc29716c5df63f6ec838"};

/// Returns the PTTL of the lock KEYS[1], or -2 if a reader can have it: it is free, or other readers have it. For the first one
/// in line.
inline constexpr std::string_view readable_source =
    "if redis.call('GETRANGE',KEYS[1],0,14)=='redlock:shared' then return -2 end "
    "return redis.call('PTTL',KEYS[1])";

/// Calls one of the two release scripts for the lock KEYS[1] in the name of each owner ARGV[2], ARGV[3] and so on, and returns how
/// many of them had it, as a negative number if they were readers. If somebody else has the lock by then, nothing is deleted. The
/// set ARGV[1] of readers is not among the KEYS, so that users of other locks need no right to it. Rarely used, so it is always
/// sent as a whole.
[[nodiscard]] inline std::string break_source() {
  return std::string{"local function release(KEYS,ARGV) "}
      .append(release_script.source)
      .append(" end local function release_shared(KEYS,ARGV) ")
      .append(shared_release_script.source)
      .append(
          " end local deleted=0 "
          "local shared=redis.call('GETRANGE',KEYS[1],0,14)=='redlock:shared' "
          "for at=2,#ARGV do "
          "deleted=deleted+(shared and release_shared({KEYS[1],ARGV[1]},{ARGV[at]}) or "
          "release({KEYS[1]},{ARGV[at]})) end "
          "return shared and -deleted or deleted");
}

/// How many readers `readers_source` names.
inline constexpr std::size_t most_named_readers = 100;

/// Returns how many readers the lock KEYS[1] with the set ARGV[1] has, and after that the beginnings of the owner values of up to
/// 100 of them: on all nodes of the same ones. The set is not among the KEYS, so that users of other locks need no right to it.
inline constexpr std::string_view readers_source =
    "local call,readers=redis.call,{0} "
    "if call('GETRANGE',KEYS[1],0,14)~='redlock:shared' then return readers end "
    "local ids=call('SMEMBERS',ARGV[1]) "
    "table.sort(ids) "
    "for _,id in ipairs(ids) do "
    "local value=call('GETRANGE',ARGV[1]..':'..id,0,1023) "
    "if value~='' then "
    "readers[1]=readers[1]+1 "
    "if readers[1]<=100 then readers[#readers+1]=value end end end "
    "return readers";

/// Returns the beginning of the owner value of the reader ARGV[2], an id, if it has a copy of the lock KEYS[1] with the set
/// ARGV[1]; else an empty text.
inline constexpr std::string_view reader_source =
    "local call=redis.call "
    "if call('GETRANGE',KEYS[1],0,14)~='redlock:shared' or call('SISMEMBER',ARGV[1],ARGV[2])==0 then return "
    "'' end "
    "return call('GETRANGE',ARGV[1]..':'..ARGV[2],0,1023)";

/// The scripts that the handshake loads. Any of them may be needed on a node that is slower than a majority: its NOSCRIPT would
/// come when the operation is decided. `Nodes` loads them again if one does.
inline constexpr const Script* loaded_scripts[] = {
    &release_script,       &extend_script,          &grant_script,         &set_script,
    &confirm_script,       &put_back_script,        &swap_script,          &shared_grant_script,
    &shared_extend_script, &shared_put_back_script, &shared_release_script};

/// All scripts. A server learns the line's script when somebody waits (`ScriptedOperation`).
inline constexpr const Script* all_scripts[] = {&release_script,
                                                &extend_script,
                                                &grant_script,
                                                &set_script,
                                                &confirm_script,
                                                &put_back_script,
                                                &swap_script,
                                                &line_script,
                                                &shared_grant_script,
                                                &shared_extend_script,
                                                &shared_put_back_script,
                                                &shared_release_script};

}  // namespace redlock::inline v1::core
