// Readers, who share a lock, and how they differ from writers. The scripts are those of shared locks.
//
// Size:     PUT_BACKS, how often readers who put a copy back may open a free lock; each time raises the counter.
// Property: EXCLUSION asks who holds the lock at a time. Tokens are then left out: all counters stay 0.
// Variants: the other words in capitals behind #ifdef, as in fencing.

#ifndef PUT_BACKS
#define PUT_BACKS 1
#endif

#define SHARED 255  // in holder: readers have the lock

// Of each node, with one bit for each attempt.
byte own[NODES];     // whose own key exists
byte member[NODES];  // whose id is in the set
byte lapsed[NODES];  // whose copy was there and then a writer's, since it was granted or put back; those that have an own key

byte greatest_written;  // of the complete tokens of writers
byte put_backs = PUT_BACKS;

#define has(bits, a) (((bits) >> (a)) & 1)
#define add(bits, a) bits = bits | (1 << (a))
#define drop(bits, a) bits = bits & (255 - (1 << (a)))

#ifdef READER_OF_ONE_NODE
#define quorum(a) (reads(a) -> 1 : MAJORITY)
#else
#ifdef WRITER_OF_ONE_NODE
#define quorum(a) (reads(a) -> MAJORITY : 1)
#else
#define quorum(a) MAJORITY
#endif
#endif

#ifdef EXCLUSION
#define raised(c) 0
#else
#define raised(c) (c)
#endif

// ---- What counts

#ifdef EXTEND_WITHOUT_LOCK
#define is_open(n) true
#else
#define is_open(n) (holder[n] == SHARED)
#endif
#ifdef EXTEND_WITHOUT_SET
#define members(n) 255
#else
#define members(n) member[n]
#endif
// The readers whose copies count, as the extend script says.
#define extended(n) (is_open(n) -> own[n] & members(n) : 0)
// What the confirm script asks.
#define has_copy(a, n) (reads(a) -> has(own[n], a) : holder[n] == owner(a))

#ifdef EXCLUSION
#define copy(a, n) (reads(a) -> has(extended(n), a) : holder[n] == owner(a))
#define holds(a) (attempt[a].stage == complete && copy(a, 0) + copy(a, 1) + copy(a, 2) >= quorum(a))

inline check() {
  for (i : 0 .. NODES - 1) {
    assert((extended(i) & lapsed[i]) == 0)  // without interruption
  }
  x = 0;  // how many hold the lock, where a writer is as good as all
  for (k : 0 .. ATTEMPTS - 1) {
    x = x + (holds(k) -> (reads(k) -> 1 : ATTEMPTS) : 0)
  }
  assert(x <= ATTEMPTS);  // readers, or one writer
#ifdef REACH_TWO_READERS
  assert(x != 2)
#endif
}
#else
#define check() skip
#endif

// The next attempts are compared with this. Readers may have the token of earlier ones.
inline note_token() {
  if
  :: !reads(me) && self.token > greatest_written -> greatest_written = self.token
  :: else
  fi
}

// ---- The scripts

inline take(n) {
  lapsed[n] = own[n]
}

// Deletes the keys of the strangers who are still in the set.
inline open(n) {
#ifndef OPENING_KEEPS_STRANGERS
  own[n] = own[n] & (255 - member[n]);
  lapsed[n] = lapsed[n] & own[n];
  member[n] = 0;
#endif
  holder[n] = SHARED
}

inline become_reader(n) {
  add(own[n], me);
  add(member[n], me);
  drop(lapsed[n], me)
}

inline read(n, proposal) {
  d_step {
    reads(me) && self.talk[n] == asked && (holder[n] == 0 || holder[n] == SHARED) && (self.stage != idle || may_start) ->
    if
    :: self.stage == idle ->
       self.stage = voting;
       self.before = greatest_written
    :: else
    fi;
    if
    :: holder[n] == 0 ->
       open(n);
#ifdef OPENING_WITHOUT_RAISE
       counter[n] = (counter[n] > 1 -> counter[n] : 1)
#else
       counter[n] = raised((counter[n] + 1 > proposal -> counter[n] + 1 : proposal))
#endif
    :: else
    fi;
    become_reader(n);
    printf("%d.%d: node %d grants %d to this reader\n", client(me) + 1, try(me) + 1, n + 1, counter[n]);
    if
    :: has_ended(me) -> self.talk[n] = silent
    :: else ->
       self.talk[n] = granted;
       self.number[n] = counter[n]
    fi;
    tidy()
  }
}

inline put_back(n) {
  d_step {
    reads(me) && self.stage == complete && (holder[n] == 0 && put_backs > 0 ||
                                            holder[n] == SHARED && !has(own[n] & member[n], me)) ->
    if
    :: holder[n] == 0 ->
       open(n);
       put_backs--;
#ifndef PUT_BACK_WITHOUT_RAISE
       counter[n] = raised(counter[n] + 1)
#endif
    :: else
    fi;
    counter[n] = raised((counter[n] > self.token -> counter[n] : self.token));
    become_reader(n);
    printf("%d.%d: node %d has this reader's copy again, its counter is %d\n", client(me) + 1, try(me) + 1, n + 1,
           counter[n]);
#ifdef REACH_PUT_BACK
    assert(false);
#endif
    tidy()
  }
}

// The last one frees the lock.
inline leave(n) {
  d_step {
    has_ended(me) && reads(me) && has(own[n], me) ->
    drop(own[n], me);
    drop(lapsed[n], me);
    drop(member[n], me);
    printf("%d.%d: node %d is released by this reader\n", client(me) + 1, try(me) + 1, n + 1);
    if
    :: holder[n] == SHARED && (own[n] & member[n]) == 0 ->
       holder[n] = 0;
       member[n] = 0
    :: else
    fi;
    tidy()
  }
}

// ---- What expires or is deleted alone. (The lock's key does in the process World.)

inline own_vanishes(n) {
  d_step {
    has(own[n], me) ->
    printf("%d.%d: this reader's key on node %d vanishes\n", client(me) + 1, try(me) + 1, n + 1);
    drop(own[n], me);
    drop(lapsed[n], me);
    tidy()
  }
}

inline set_vanishes(n) {
  d_step {
    member[n] != 0 ->
    printf("The set of node %d vanishes\n", n + 1);
    member[n] = 0;
    tidy()
  }
}
