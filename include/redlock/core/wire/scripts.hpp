// The Lua scripts that run on the servers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

/// How a command names its script: by its digest of 40 bytes or, after NOSCRIPT, by its source. The server caches the
/// source, so it is needed only once.
enum class Form : bool { digest, source };

struct Script {
  using Words = std::initializer_list<std::string_view>;

  std::string_view source;
  std::string_view sha1;  // of the source, for EVALSHA; the handshake compares it with the server's

  /// Keys that are empty are left out. `marker_keys`: two further keys, unless null; then a `RequiredMarker` is to be appended.
  /// `flag`: the last key, unless empty.
  [[nodiscard]] std::string call(Words keys, Words values, Form form = Form::digest,
                                 const MarkerKeys* marker_keys = nullptr, std::string_view flag = {}) const {
    constexpr std::string_view digits = "0123456789";
    const bool whole = form == Form::source;
    std::array<std::string_view, 14> words{whole ? "EVAL" : "EVALSHA", whole ? source : sha1};
    const auto first_key = words.begin() + 3;
    const auto is_there = [](std::string_view key) { return !key.empty(); };
    auto end = std::copy_if(keys.begin(), keys.end(), first_key, is_there);
    if (marker_keys) *end++ = marker_keys->marker, *end++ = marker_keys->quarantine;
    if (!flag.empty()) *end++ = flag;
    words[2] = digits.substr(static_cast<std::size_t>(end - first_key), 1);
    end = std::copy(values.begin(), values.end(), end);
    std::string out;
    append_command(out, std::span{words.begin(), end}, marker_keys ? 2 : 0);
    return out;
  }
};

// All scripts compare or return only the beginning of a value. A data key with the name of the lock may be huge, and GET
// would copy all of it.

/// What a key holds that its owner has released, but that is to stay for a while (`Claim::kept_until`). Nobody owns it.
inline constexpr std::string_view kept_value = "redlock:kept";
/// The value names one holder, which nobody else has named so before: the lock is neither kept for a while nor held by readers.
[[nodiscard]] inline bool is_of_one_holder(std::string_view value) noexcept {
  return value != kept_value && value != held_by_readers;
}

/// Deletes the key and returns 1 if the key still holds our value, else returns 0. Without the comparison, a late
/// release would delete the next holder's lock. With ARGV[2], the key stays for so many ms instead, as `kept_value`.
inline constexpr Script release_script{
    "local call=redis.call "
    "if call('GETRANGE',KEYS[1],0,#ARGV[1])~=ARGV[1] then return 0 end "
    "if ARGV[2] then call('SET',KEYS[1],'redlock:kept','PX',ARGV[2]) return 1 end "
    "return call('DEL',KEYS[1])",
    "9ee6a596e3054fe5b11192d5c1e12c867bcfad4b"};

/// Sets the key's ttl to ARGV[2] ms and returns 1 if the key still holds our value. Returns 0 if there is no key, -1 if
/// it holds another value. Never shortens the ttl, because an extension that was sent later may have arrived first. If
/// there is a counter, it is kept for ARGV[3] ms more.
inline constexpr Script extend_script{
    "local value=redis.call('GETRANGE',KEYS[1],0,#ARGV[1]) "
    "if value~=ARGV[1] then return value=='' and 0 or -1 end "
    "if redis.call('PTTL',KEYS[1])<tonumber(ARGV[2]) then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end "
    "if KEYS[2] and ARGV[3]~='0' then redis.call('PEXPIRE',KEYS[2],ARGV[3]) end return 1",
    "20147b82a203305e1a8843d3dfe31a277668e089"};

/// Sets the key if it does not exist, raises the counter and returns it. If the key exists, changes nothing and returns
/// the key's value and PTTL.
///
/// The counter becomes at least one more than it was, and at least the proposal ARGV[3]. A proposal that is more than an
/// hour ahead of the counter is limited to one day ahead of the server's own clock, and to a value that leaves enough
/// numbers below 2^53 (the year 2255). If the counter cannot be written, the lock is undone.
///
/// With a marker's key KEYS[3] and a quarantine's key KEYS[4], grants only if the marker begins with ARGV[6] and contains
/// ARGV[7], and there is no quarantine. If ARGV[5] is not empty, the lock is adopted: the key must have that value.
///
/// If the number of keys is odd, the last key is the flag of the waiting line: while it exists, replies as if the key
/// existed. If the key does not exist, the value is empty and the PTTL is the flag's.
inline constexpr Script grant_script{
    "local call,try=redis.call,redis.pcall "
    "local flag=#KEYS%2==1 and KEYS[#KEYS] "
    "local guard=KEYS[4] "
    "local marker=guard and call('GETRANGE',KEYS[3],0,511) "
    "local foreign=guard and (string.sub(marker,1,#ARGV[6])~=ARGV[6] or not "
    "string.find(marker,ARGV[7],1,true)) "
    "if foreign or (guard or flag) and call('EXISTS',guard or flag,flag or guard)>0 then "
    "local left=guard and call('PTTL',guard) or -2 "
    "if foreign or left~=-2 then return redis.error_reply('UNMARKED '..left..' ms of quarantine are left') "
    "end "
    "local value=call('GETRANGE',KEYS[1],0,1023) "
    "return {value,call('PTTL',value~='' and KEYS[1] or flag)} end "
    "local text=try('GET',KEYS[2]) "
    "local counter=tonumber(text or 0) "
    "if not counter or counter<0 or counter%1~=0 or counter>9007199254740990 then "
    "if type(text)=='table' and not string.find(text.err,'WRONGTYPE') then return text end "
    "return redis.error_reply('BADCOUNTER '..KEYS[2]..' is not a whole number from 0 to 2^53-2') end "
    "local raised=ARGV[3] "
    "local ahead=raised-counter "
    "if ahead<1 then raised=counter+1 "
    "elseif ahead>3600000000 or counter>9e15 then "
    "local time=call('TIME') "
    "raised=math.max(counter+1,math.min(raised,time[1]*1000000+time[2]+86400000000,9e15)) end "
    "local adopted=ARGV[5]~='' and ARGV[5] "
    "if adopted and call('GETRANGE',KEYS[1],0,#adopted)==adopted then "
    "call('SET',KEYS[1],ARGV[1],'PX',math.max(ARGV[2],call('PTTL',KEYS[1]))) "
    "elseif adopted or not call('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then "
    "return {call('GETRANGE',KEYS[1],0,1023),call('PTTL',KEYS[1])} end "
    "local set=ARGV[4]=='0' and try('SET',KEYS[2],raised) or try('SET',KEYS[2],raised,'PX',ARGV[4]) "
    "if set.err then "
    "if adopted then call('SET',KEYS[1],adopted,'PX',call('PTTL',KEYS[1])) else call('DEL',KEYS[1]) end "
    "return set end "
    "return tonumber(raised)",
    "3177d3400bc08308ebf074d1536d94d6b3b970a4"};

/// `SET NX PX` if the marker KEYS[2] begins with ARGV[3] and contains ARGV[4], and there is no quarantine KEYS[3]. While
/// there is a flag KEYS[4], replies as if the key existed.
inline constexpr Script set_script{
    "local call=redis.call "
    "local marker=call('GETRANGE',KEYS[2],0,511) "
    "local foreign=string.sub(marker,1,#ARGV[3])~=ARGV[3] or not string.find(marker,ARGV[4],1,true) "
    "if foreign or call('EXISTS',KEYS[3],KEYS[4] or KEYS[3])>0 then "
    "local left=call('PTTL',KEYS[3]) "
    "if foreign or left~=-2 then return redis.error_reply('UNMARKED '..left..' ms of quarantine are left') "
    "end "
    "return false end "
    "return call('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2])",
    "856900c7a91bde85d3183e54b769e72deb029efd"};

/// Raises the counter from ARGV[2], which this owner was granted, to ARGV[3] and returns 1. Changes nothing and returns 0
/// if the key is no longer ours or the counter has changed since.
///
/// Changes nothing and returns -1 if the counter would rise by more than a million, and either to more than two days
/// ahead of the server's own clock or beyond 9e15. So one node that answers false counters does not use up the numbers
/// of the others. A proposal may be one day ahead: the second day allows for clocks of the nodes that differ. A step of
/// a million is always allowed, because all counters may be ahead of the clocks since a clock was wrong.
inline constexpr Script confirm_script{
    "local call=redis.call "
    "if call('GETRANGE',KEYS[1],0,#ARGV[1])~=ARGV[1] or call('GET',KEYS[2])~=ARGV[2] then return 0 end "
    "if ARGV[3]-ARGV[2]>1e6 then "
    "local time=call('TIME') "
    "if tonumber(ARGV[3])>math.min(time[1]*1000000+time[2]+172800000000,9e15) then return -1 end end "
    "if ARGV[4]=='0' then call('SET',KEYS[2],ARGV[3]) else call('SET',KEYS[2],ARGV[3],'PX',ARGV[4]) end "
    "return 1",
    "43522628ea4ad5de45e3fc927754a2878fdfd526"};

/// Sets the key for a lease that already has its token ARGV[3], raises the counter to at least that token, and returns 1.
/// If the key exists, changes nothing and returns 0. If the counter would rise by more than a confirmation may raise it,
/// changes nothing and returns -1.
inline constexpr Script put_back_script{
    "local call=redis.call "
    "if call('EXISTS',KEYS[1])==1 then return 0 end "
    "local text=redis.pcall('GET',KEYS[2]) or 0 "
    "local counter=tonumber(text) "
    "if not counter or counter<0 or counter%1~=0 or counter>9007199254740991 then "
    "if type(text)=='table' and not string.find(text.err,'WRONGTYPE') then return text end "
    "return redis.error_reply('BADCOUNTER '..KEYS[2]..' is not a whole number from 0 to 2^53-1') end "
    "if ARGV[3]-counter>1e6 then "
    "local time=call('TIME') "
    "if tonumber(ARGV[3])>math.min(time[1]*1000000+time[2]+172800000000,9e15) then return -1 end end "
    "counter=math.max(counter,ARGV[3]) "
    "if ARGV[4]=='0' then call('SET',KEYS[2],counter) else call('SET',KEYS[2],counter,'PX',ARGV[4]) end "
    "call('SET',KEYS[1],ARGV[1],'PX',ARGV[2]) "
    "return 1",
    "7417253c2bd4f0ccb2089a0c7f63caae490154da"};

/// Replaces the key's value ARGV[1] by ARGV[2] and returns 1. The ttl is at least ARGV[3] ms and not less than before,
/// because the previous owner may still rely on it. If the key has another value, replies like a grant that was denied.
/// Adopts a lock without a token, and undoes any adoption.
///
/// With a marker's key KEYS[2] and a quarantine's key KEYS[3], swaps only if the marker begins with ARGV[4] and contains
/// ARGV[5], and there is no quarantine.
inline constexpr Script swap_script{
    "local call=redis.call "
    "local left=KEYS[2] and call('PTTL',KEYS[3]) "
    "local marker=left and call('GETRANGE',KEYS[2],0,511) "
    "if left and (left~=-2 or string.sub(marker,1,#ARGV[4])~=ARGV[4] or not "
    "string.find(marker,ARGV[5],1,true)) then "
    "return redis.error_reply('UNMARKED '..left..' ms of quarantine are left') end "
    "if call('GETRANGE',KEYS[1],0,#ARGV[1])==ARGV[1] then "
    "call('SET',KEYS[1],ARGV[2],'PX',math.max(ARGV[3],call('PTTL',KEYS[1]))) return 1 end "
    "return {call('GETRANGE',KEYS[1],0,1023),call('PTTL',KEYS[1])}",
    "0e9ee4dbb58956fcd519da92fbf3009b201d8cec"};

/// Stands in the waiting line of a lock, or leaves it: KEYS[1] is the order of the line (a sorted set of members by the
/// time of their calls), KEYS[2] says until when a member counts as alive, KEYS[3] when the line was formed. All times are
/// microseconds of the server's clock. ARGV[1] is the member, ARGV[2] how long its call has waited, or empty to leave.
/// Members count as alive for ARGV[3] ms. The place of a member that stands there already is kept, unless ARGV[4] is 1.
/// Members that are not alive are removed, and all of them if the clock was set: each returns to its place at its next look.
///
/// Publishes a message to the member that became the first one, and to the member that it displaced. With ARGV[5]=1, also
/// publishes an empty message to this member, to find out whether its user may publish. Returns the member's rank from 0
/// on, or -1; the length of the line; for how many ms any member before it still counts as alive, -1 if none is there; 1 if
/// publishing worked, else 0; and the text that names the line since it was formed. More than half of ARGV[3] is not exact:
/// who looks comes back before. So mostly only the next member is asked for, which has looked not long ago.
inline constexpr Script line_script{
    "local call,try=redis.call,redis.pcall "
    "local order,alive,me,life=KEYS[1],KEYS[2],ARGV[1],ARGV[3]*1000 "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local can_publish=1 "
    "local function tell(member,text) "
    "local sent=try('PUBLISH','redlock:turn:'..string.sub(member,1,16),text) "
    "if type(sent)=='table' then can_publish=0 end end "
    "local function first() return call('ZRANGE',order,0,0)[1] end "
    "local before=first() "
    "local function remove(from,to) "
    "for _,member in ipairs(call('ZRANGEBYSCORE',alive,from,to,'LIMIT',0,100)) do "
    "call('ZREM',order,member) call('ZREM',alive,member) end end "
    "remove('-inf',now) "
    "remove(now+life*1.25,'+inf') "
    "local line=call('GETRANGE',KEYS[3],0,99) "
    "if ARGV[2]=='' then "
    "call('ZREM',order,me) call('ZREM',alive,me) "
    "if not first() then call('DEL',KEYS[3]) end "
    "else "
    "if line=='' or not first() then line=string.format('%.0f',now)..'.'..string.sub(me,1,16) end "
    "if ARGV[4]=='1' or not call('ZSCORE',order,me) then call('ZADD',order,now-ARGV[2],me) end "
    "call('ZADD',alive,now+life,me) "
    "call('PEXPIRE',order,ARGV[3]*2) call('PEXPIRE',alive,ARGV[3]*2) call('SET',KEYS[3],line,'PX',ARGV[3]*2) "
    "if ARGV[5]=='1' then tell(me,'') end end "
    "local head=first() "
    "if head~=before then "
    "if head and head~=me then tell(head,order) end "
    "if before and before~=me then tell(before,order) end end "
    "local rank=call('ZRANK',order,me) or -1 "
    "local left=-1 "
    "for place=rank-1,0,-1 do "
    "local member=call('ZRANGE',order,place,place)[1] "
    "left=math.max(left,math.min((call('ZSCORE',alive,member) or now)-now,life)/1000) "
    "if left*2000>life then break end end "
    "return {rank,call('ZCARD',order),left,can_publish,line}",
    "7bb196677dc3b18c08c73928ed4bdf57149de0ac"};

}  // namespace redlock::inline v1::core
