// Fencing tokens from a quorum, for the model checker spin. ../model.md explains it to people who have never
// seen Promela; run.sh checks it, and that the broken variants are found out.
//
// Size:      CLIENTS; TRIES, the attempts of each client; PROPOSAL, of a client whose clock is ahead;
//            READERS, how many of the clients are readers (see readers).
// Reduction: SORTED, PRUNED (see tidy). Without them every state is told from every other.
// Variants:  the other words in capitals behind #ifdef leave out one thing each, and some of them break it.
// Reached:   REACH_… is violated as soon as what it names happens.

#define NODES 3
#define MAJORITY 2
#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef TRIES
#define TRIES 1
#endif
#ifndef READERS
#define READERS 0
#endif
#ifndef PROPOSAL
#define PROPOSAL 0
#endif
#define ATTEMPTS (CLIENTS * TRIES)

mtype:stage = { idle, voting, settled, complete, failed };

// What goes on between an attempt and a node.
mtype:talk = {
  asked,         // the grant is under way; if it is lost or denied, it stays so for ever
  granted,       // the node granted, and the answer is under way
  confirming,    // the confirm is under way
  acknowledged,  // the node has acknowledged the token
  silent         // nothing that is said any more is heard
};

typedef Attempt {
  mtype:stage stage = idle;
  mtype:talk talk[NODES] = asked;
  byte number[NODES];  // what the node granted; while granted or confirming
  byte token;          // from settled on
  byte before;         // the greatest complete token when the attempt started; until it has ended
};

// The clients' first attempts, then their second ones.
Attempt attempt[ATTEMPTS];

// The nodes: whose owner value is in the lock's key, 0 if it is free; and the counter beside it.
byte holder[NODES];
byte counter[NODES];

byte greatest;  // of the complete tokens

byte i, k, x;  // scratch: 0 between two steps

#define me _pid
#define self attempt[me]
#define client(a) ((a) % CLIENTS)
#define try(a) ((a) / CLIENTS)
#ifdef OWNER_ONLY_CONFIRM_AND_REGRANT
#define owner(a) (client(a) + 1)
#else
#define owner(a) ((a) + 1)
#endif
#define has_ended(a) (attempt[a].stage == complete || attempt[a].stage == failed)

// The first clients are readers.
#define reads(a) (client(a) < READERS)

// A client's next attempt starts after the one before has ended. Readers are alike, and so are writers: they start in their
// order.
#define is_first (me == 0 || me == READERS)
#define may_start (try(me) == 0 -> is_first || attempt[me - 1].stage != idle : has_ended(me - CLIENTS))

#if READERS > 0
#include "readers.pml"
#else  // without readers
#define has_copy(a, n) (holder[n] == owner(a))
#define quorum(a) MAJORITY
#define raised(c) (c)
#define take(n) skip
#define note_token() skip
#define check() skip
#endif
#include "tidy.pml"

// ---- What the client does with what it hears

inline hear_no_more(a, n) {
  attempt[a].talk[n] = silent;
  attempt[a].number[n] = 0
}

// Messages under way stay under way.
inline end(outcome) {
  self.stage = outcome;
  self.before = 0;
  for (i : 0 .. NODES - 1) {
    if
    :: self.talk[i] == granted || self.talk[i] == acknowledged -> hear_no_more(me, i)
    :: else
    fi
  }
}

inline acknowledge(n) {
  self.talk[n] = acknowledged;
  self.number[n] = 0
}

inline conclude() {
  x = 0;
  for (i : 0 .. NODES - 1) {
    x = x + (self.talk[i] == acknowledged)
  }
  if
  :: self.stage == settled && x >= quorum(me) ->
     printf("%d.%d: complete, its token is %d\n", client(me) + 1, try(me) + 1, self.token);
     x = 0;
     for (i : 0 .. ATTEMPTS - 1) {
#ifndef EXCLUSION
       assert(attempt[i].stage != complete || attempt[i].token != self.token || reads(i) && reads(me));  // unique
#endif
       x = x + (attempt[i].stage == complete)
     }
#ifndef EXCLUSION
     assert(self.token > self.before);  // in order
#endif
#ifdef REACH_TWO_COMPLETE
     assert(x == 0);
#endif
#ifdef REACH_RETRY
     assert(try(me) == 0 || attempt[me - CLIENTS].stage == complete);
#endif
     greatest = (self.token > greatest -> self.token : greatest);
     note_token();
     end(complete)
  :: else
  fi
}

// An answer that counts, now that the token is known.
inline count(n) {
  if
  :: self.number[n] == self.token -> acknowledge(n)
#ifdef TOKEN_IS_MAXIMUM
  :: self.number[n] < self.token -> acknowledge(n)
#else
  :: self.number[n] < self.token -> self.talk[n] = confirming
#endif
#ifdef ACK_FROM_UNFOLDED_GRANT
  :: self.number[n] > self.token -> acknowledge(n)
#else
#ifdef STRAGGLER_KEEPS_ACKS
  :: self.number[n] > self.token -> self.token = self.number[n]; acknowledge(n)
#else
  :: self.number[n] > self.token -> hear_no_more(me, n)
#endif
#endif
  fi
}

// The answers of a majority have come, those of m and n.
inline settle(m, n) {
  d_step {
    self.stage == voting && self.talk[m] == granted && self.talk[n] == granted ->
    self.stage = settled;
    self.token = (self.number[m] > self.number[n] -> self.number[m] : self.number[n]);
    printf("%d.%d: nodes %d and %d granted, so the token will be %d\n", client(me) + 1, try(me) + 1, m + 1, n + 1,
           self.token);
    count(m);
    count(n);
    conclude();
    tidy()
  }
}

// Another answer comes after the token is known.
inline straggle(n) {
  d_step {
    self.stage == settled && self.talk[n] == granted ->
    printf("%d.%d: hears late that node %d granted %d\n", client(me) + 1, try(me) + 1, n + 1, self.number[n]);
    count(n);
    conclude();
    tidy()
  }
}

#define is_unchanged(n) (self.talk[n] == granted || self.talk[n] == confirming)

// The nodes m and n refused the token, or have not heard of it. The node o, whose number it was, is left out.
inline settle_for_less(m, n, o) {
  d_step {
    self.stage == settled && is_unchanged(m) && is_unchanged(n) &&
    (self.talk[o] == acknowledged || self.talk[o] == silent) ->
#ifndef SMALLER_TOKEN_KEEPS_ACKS
    hear_no_more(me, o);
#endif
    self.token = (self.number[m] > self.number[n] -> self.number[m] : self.number[n]);
    printf("%d.%d: leaves out node %d, so the token will be %d\n", client(me) + 1, try(me) + 1, o + 1, self.token);
    count(m);
    count(n);
#ifdef REACH_SMALLER_TOKEN
    assert(self.token >= counter[o]);
#endif
    conclude();
    tidy()
  }
}

// A failed attempt whose grants are all still under way matters only to the next attempt of its client.
#define may_give_up_unheard (self.stage == idle && may_start && me + CLIENTS < ATTEMPTS)

inline give_up() {
  d_step {
    self.stage == voting || self.stage == settled || may_give_up_unheard ->
    printf("%d.%d: gives up\n", client(me) + 1, try(me) + 1);
    end(failed);
    tidy()
  }
}

// ---- The scripts: what a node does in one step when a message of this attempt arrives

#ifdef GRANT_REGARDLESS
#define is_free(n) true
#else
#ifdef OWNER_ONLY_CONFIRM_AND_REGRANT
#define is_free(n) (holder[n] == 0 || holder[n] == owner(me))
#else
#define is_free(n) (holder[n] == 0)
#endif
#endif

// An attempt starts with the first of its grants that is executed.
inline grant(n, proposal) {
  d_step {
    !reads(me) && self.talk[n] == asked && is_free(n) && (self.stage != idle || may_start) ->
    if
    :: self.stage == idle ->
       self.stage = voting;
       self.before = greatest
    :: else
    fi;
    take(n);
    holder[n] = owner(me);
    counter[n] = raised((counter[n] + 1 > proposal -> counter[n] + 1 : proposal));
    printf("%d.%d: node %d grants %d\n", client(me) + 1, try(me) + 1, n + 1, counter[n]);
    if
    :: has_ended(me) -> self.talk[n] = silent
    :: else ->
       self.talk[n] = granted;
       self.number[n] = counter[n]
    fi;
    tidy()
  }
}

#if defined(NO_OWNER_CHECK) || defined(COUNTER_ONLY_CONFIRM)
#define is_still_mine(n) true
#else
#define is_still_mine(n) has_copy(me, n)
#endif
#if defined(NO_OWNER_CHECK) || defined(OWNER_ONLY_CONFIRM) || defined(OWNER_ONLY_CONFIRM_AND_REGRANT)
#define is_as_granted(n) true
#else
#define is_as_granted(n) (counter[n] == self.number[n])
#endif

inline confirm(n) {
  d_step {
    self.talk[n] == confirming && is_still_mine(n) && is_as_granted(n) ->
    counter[n] = self.token;
    printf("%d.%d: node %d confirms, its counter is %d\n", client(me) + 1, try(me) + 1, n + 1, counter[n]);
    if
    :: has_ended(me) -> hear_no_more(me, n)
    :: else ->
       acknowledge(n);
       conclude();
#ifdef REACH_SECOND_ROUND
       assert(self.stage != complete)
#endif
    fi;
    tidy()
  }
}

#ifdef REPAIR_ACKNOWLEDGES
#define may_repair (self.stage == complete || self.stage == settled)
#else
#define may_repair (self.stage == complete)
#endif

inline repair(n) {
  d_step {
    may_repair && !reads(me) && holder[n] == 0 ->
    take(n);
    holder[n] = owner(me);
#ifndef REPAIR_KEEPS_COUNTER
    counter[n] = raised((counter[n] > self.token -> counter[n] : self.token));
#endif
    printf("%d.%d: node %d is repaired, its counter is %d\n", client(me) + 1, try(me) + 1, n + 1, counter[n]);
#ifdef REACH_REPAIR
    assert(false);
#endif
#ifdef REPAIR_ACKNOWLEDGES
    if
    :: self.stage == settled ->
       acknowledge(n);
       conclude()
    :: else
    fi;
#endif
    tidy()
  }
}

inline release(n) {
  d_step {
    has_ended(me) && holder[n] == owner(me) ->
    holder[n] = 0;
    printf("%d.%d: node %d is released\n", client(me) + 1, try(me) + 1, n + 1);
    tidy()
  }
}

// ---- Who is there

#define on_any_node(script) :: script(0) :: script(1) :: script(2)

active [ATTEMPTS] proctype Client() {
end_of_story:  // nobody has to go on: whatever does not happen was lost
  do
  :: grant(0, 0) :: grant(1, 0) :: grant(2, 0)
#if PROPOSAL > 0
  :: grant(0, PROPOSAL) :: grant(1, PROPOSAL) :: grant(2, PROPOSAL)
#endif
  :: settle(0, 1) :: settle(0, 2) :: settle(1, 2)
  on_any_node(straggle)
#ifndef EXCLUSION
  :: settle_for_less(0, 1, 2) :: settle_for_less(0, 2, 1) :: settle_for_less(1, 2, 0)
#endif
  :: give_up()
  on_any_node(confirm)
  on_any_node(repair)
  on_any_node(release)
#if READERS > 0
  :: read(0, 0) :: read(1, 0) :: read(2, 0)
#if PROPOSAL > 0
  :: read(0, PROPOSAL) :: read(1, PROPOSAL) :: read(2, PROPOSAL)
#endif
  on_any_node(put_back)
  on_any_node(leave)
  on_any_node(own_vanishes)
#endif
  od
}

inline vanish(n) {
  d_step {
    holder[n] != 0 ->
    printf("The copy on node %d vanishes\n", n + 1);
    holder[n] = 0;
    tidy()
  }
}

inline forget(n) {
  d_step {
    counter[n] != 0 ->
    printf("Node %d restarts without its data\n", n + 1);
    holder[n] = 0;
    counter[n] = 0;
    tidy()
  }
}

active proctype World() {
end_of_story:
  do
  on_any_node(vanish)
#if READERS > 0
  on_any_node(set_vanishes)
#endif
#ifdef FORGETFUL_NODE
  on_any_node(forget)
#endif
  od
}
