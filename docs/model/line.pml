// The waiting line of one lock on its gate, for the model checker spin. ../model.md explains it; run.sh checks it, and
// that the broken variants are found out.
//
// Size:      CLIENTS; CALLS and FAULTS, of all of them together. A fault is a client that dies, or one that is paused for
//            longer than its life in the line.
// Variants:  the other words in capitals behind #ifdef leave out one thing each, and that breaks it.
// Reached:   REACH_… is violated as soon as what it names happens.

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#define nobody CLIENTS

mtype:command = { try, ask, stand, leave, watch, release, lower };
mtype:answer = { granted, denied, first, behind, left, is_free, is_held };
mtype:state = { out, trying, waiting, asking, holding, dead };
mtype:view = { unknown, taken, free };
mtype:entry = { none, alive, over };

// The connections of a client keep the order of what is sent. The number is the name of a line.
typedef Client {
  mtype:state state = out;
  byte age;             // the number of its call
  bool is_patient;      // its call never gives up
  bool is_head;         // the gate has said so,
  bool is_in_time;      // and less than a life ago
  bool look_wanted;
  byte looks, reads;    // not answered
  mtype:view view = unknown;  // of the lock
  bool changed;         // a push came since the lock was read
  byte line;            // of which it raises the flag
  chan sent = [5] of { mtype:command, byte };
  chan answers = [5] of { mtype:answer, byte };
  bool told;            // a message of the gate is under way,
  bool pushed           // and one that the lock has changed
}
Client client[CLIENTS];

// The node.
byte holder = nobody;   // of the lock
byte flag;              // the name of the line that raised it, or 0
byte name;              // of the line, or 0
mtype:entry entry[CLIENTS] = none;
bool armed[CLIENTS];    // is sent a push when the lock changes

byte score[CLIENTS];    // the number of the call that stands in line

byte calls, names, faults;
byte lives_over;        // entries that are over and were not stepped over
byte i, x, before, calling;      // scratch: 0 between two steps

#define me _pid
#define self client[me]
#define stands(c) (client[c].state == waiting || client[c].state == asking)
// Whoever is not the first one any more hears of it soon.
#define hears_soon(c) (client[c].told || client[c].look_wanted || client[c].looks > 0)
#define is_settled_head(c) (client[c].is_head && client[c].is_in_time && client[c].state != dead && !hears_soon(c))
#ifdef LIFE_IGNORED
#define is_in_turn self.is_head
#else
#define is_in_turn (self.is_head && self.is_in_time)
#endif
#define has_room(c) (len(client[c].sent) <= 3)

// ---- The node

// Finds the oldest call in the line, also if its life is over.
inline find_first(found) {
  found = nobody;
  for (i : 0 .. CLIENTS - 1) {
    if
    :: entry[i] != none && (found == nobody || score[i] < score[found]) -> found = i
    :: else
    fi
  }
}

inline tell(c, other) {
  if
  :: c != nobody && c != other -> client[c].told = (client[c].state != dead)
  :: else
  fi
}

// The beginning and the end of the script of the line.
inline step_over() {
  find_first(before);
  for (i : 0 .. CLIENTS - 1) {
    if
    :: entry[i] == over -> entry[i] = none; score[i] = 0
    :: else
    fi
  }
  lives_over = 0
}
inline tell_of_change(c) {
  find_first(x);
  if
  :: x != before ->
#ifndef NEXT_UNTOLD
     tell(x, c);
#endif
#ifndef DISPLACED_UNTOLD
     tell(before, c);
#endif
     skip
  :: else
  fi
}

inline change_lock(to) {
  holder = to;
  for (i : 0 .. CLIENTS - 1) {
    client[i].pushed = client[i].pushed || (armed[i] && client[i].state != dead);
    armed[i] = false
  }
}

inline answer(c, what, number) {
  if
  :: client[c].state != dead -> client[c].answers ! what, number
  :: else
  fi
}

inline grant(c, may) {
  if
  :: holder == nobody && (may) ->
     printf("client %d gets the lock\n", c + 1);
     change_lock(c);
     answer(c, granted, 0)
  :: else -> answer(c, denied, 0)
  fi
}

inline serve(c) {
  d_step {
    nempty(client[c].sent) && nfull(client[c].answers) ->
    if
    :: client[c].sent ? try, _ ->
       // No newcomer overtakes a head that is known to have raised the flag.
       for (i : 0 .. CLIENTS - 1) {
         assert(holder != nobody || flag != 0 || !is_settled_head(i) || client[i].reads > 0)
       }
       grant(c, flag == 0)
    :: client[c].sent ? ask, _ -> grant(c, true)
    :: client[c].sent ? stand, calling ->
       step_over();
       score[c] = calling;
       find_first(x);
       if
       :: x == nobody -> names++; name = names
       :: else
       fi;
       entry[c] = alive;
       tell_of_change(c);
       printf("client %d stands in line %d, whose first one is %d\n", c + 1, name, x + 1);
       if
       :: x == c -> answer(c, first, name)
       :: else -> answer(c, behind, 0)
       fi
    :: client[c].sent ? leave, _ ->
       step_over();
       entry[c] = none;
       score[c] = 0;
       printf("client %d has left the line\n", c + 1);
       tell_of_change(c);
       if
       :: x == nobody -> answer(c, left, name); name = 0
       :: else -> answer(c, left, 0)
       fi
    :: client[c].sent ? watch, x ->
       printf("client %d raises the flag of line %d, and the lock is held by %d (%d: nobody)\n", c + 1, x, holder + 1,
              nobody + 1);
       flag = x;
       armed[c] = (client[c].state != dead);
       if
       :: holder == nobody -> answer(c, is_free, 0)
       :: else -> answer(c, is_held, 0)
       fi
    :: client[c].sent ? release, _ ->
       if
       :: holder == c -> printf("client %d releases the lock\n", c + 1); change_lock(nobody)
       :: else
       fi
    :: client[c].sent ? lower, x ->
#ifdef LOWER_ANY
       printf("client %d lowers the flag\n", c + 1);
       flag = 0
#else
       if
       :: flag == x -> printf("client %d lowers the flag of line %d\n", c + 1, x); flag = 0
       :: else
       fi
#endif
    fi;
    tidy()
  }
}

// ---- The client

inline tidy() {
  i = 0; x = 0; before = 0; calling = 0
}

inline step_back() {
  self.is_head = false;
  self.is_in_time = false;
  self.view = unknown
}

inline look() {
  self.look_wanted = false;
  self.looks++;
  self.sent ! stand, self.age
}

// Raises the flag, asks for pushes and reads the lock.
inline begin_watch() {
  self.view = unknown;
  self.changed = false;
  self.reads++;
  self.sent ! watch, self.line
}

inline leave_line() {
  step_back();
  self.look_wanted = false;
  self.line = 0;
  self.sent ! leave, 0
}

inline note_lock(what) {
  self.reads--;
  if
#ifdef PUSH_FORGOTTEN
  :: self.reads == 0 && self.is_head -> self.view = what
#else
  :: self.reads == 0 && self.is_head && !self.changed -> self.view = what
#endif
  :: else
  fi
}

inline hear() {
  d_step {
    nempty(self.answers) && has_room(me) ->
    if
    :: self.answers ? granted, _ ->
       if
       :: self.state == asking -> leave_line()
       :: else
       fi;
       self.state = holding
    :: self.answers ? denied, _ ->
       if
       :: self.state == trying -> self.state = waiting; look()
       :: else ->
          self.state = waiting;
          if
          :: self.is_head -> begin_watch()
          :: else
          fi
       fi
    :: self.answers ? first, x ->
       self.looks--;
       if
       :: self.looks == 0 && stands(me) ->
          if
          :: !self.is_in_time || self.line != x -> self.is_head = true; self.line = x; begin_watch()
          :: else
          fi;
          self.is_in_time = (entry[me] == alive)
       :: else
       fi
    :: self.answers ? behind, _ ->
       self.looks--;
       if
       :: self.looks == 0 -> step_back()
       :: else
       fi
    :: self.answers ? left, x ->
       if
       :: x != 0 -> self.sent ! lower, x
       :: else
       fi
#ifdef NOT_READ
    :: self.answers ? is_free, _ -> note_lock(taken)
#else
    :: self.answers ? is_free, _ -> note_lock(free)
#endif
    :: self.answers ? is_held, _ -> note_lock(taken)
    fi;
    tidy()
  }
}

// Clients are named in the order of their first calls.
inline call(patient) {
  d_step {
    self.state == out && calls < CALLS && has_room(me) && (me == 0 || client[me - 1].age > 0) ->
    calls++;
    printf("client %d calls\n", me + 1);
    self.age = calls;
    self.is_patient = patient;
    self.state = trying;
    self.sent ! try, 0
  }
}

active [CLIENTS] proctype Run() {
end:
  do
  :: call(true)
  :: call(false)
  :: hear()
  :: d_step { self.told -> self.told = false; self.look_wanted = stands(me) }
  :: d_step {
       self.pushed ->
       self.pushed = false;
       self.changed = true;
       if
       :: self.is_head -> self.view = free
       :: else
       fi
     }
  :: d_step {
       stands(me) && self.looks == 0 && has_room(me) &&
       (self.look_wanted || entry[me] != alive || lives_over > 0) ->  // the look pause matters only after a fault
       look()
     }
  :: d_step {
       self.state == waiting && is_in_turn && self.view == free && has_room(me) ->
       for (i : 0 .. CLIENTS - 1) {
         assert(i == me || (self.is_in_time && hears_soon(me)) || !is_settled_head(i))  // at most one head acts
       }
#ifdef REACH_DISPLACED
       for (i : 0 .. CLIENTS - 1) {
         assert(i == me || !client[i].is_head || !client[i].is_in_time)
       }
#endif
       printf("client %d is the head and asks\n", me + 1);
       i = 0;
       self.view = unknown;
       self.state = asking;
       self.sent ! ask, 0
     }
  :: d_step { self.state == waiting && !self.is_patient && has_room(me) -> leave_line(); self.state = out }
  :: d_step { self.state == holding && has_room(me) -> self.state = out; self.sent ! release, 0 }
  :: d_step {
       faults < FAULTS && self.state != dead && self.state != out ->
       faults++;
       printf("client %d dies\n", me + 1);
       step_back();
       self.look_wanted = false; self.told = false; self.pushed = false; self.changed = false;
       self.looks = 0; self.reads = 0; self.line = 0;
       armed[me] = false;
       do
       :: self.answers ? _, _
       :: empty(self.answers) -> break
       od;
       self.state = dead
     }
  od
}

inline end_life(c) {
  d_step {
    entry[c] == alive && (client[c].state == dead || (faults < FAULTS && stands(c))) ->
    faults = faults + (client[c].state != dead);
    printf("the life of client %d in the line is over\n", c + 1);
    entry[c] = over;
    lives_over++;
    client[c].is_in_time = false  // its own clock began earlier, when it looked
  }
}

// Whoever is the head raises it again before its ttl is over.
#define keeps_flag(c) client[c].is_in_time
#if CLIENTS > 2
#define flag_is_kept (keeps_flag(0) || keeps_flag(1) || keeps_flag(2))
#else
#define flag_is_kept (keeps_flag(0) || keeps_flag(1))
#endif

active proctype World() {
  do
  :: serve(0)
  :: serve(1)
  :: end_life(0)
  :: end_life(1)
#if CLIENTS > 2
  :: serve(2)
  :: end_life(2)
#endif
  :: d_step {
       holder != nobody && client[holder].state == dead ->
       printf("the ttl of the lock is over\n");
       change_lock(nobody);
       tidy()
     }
  :: d_step { flag != 0 && faults > 0 && !flag_is_kept -> printf("the ttl of the flag is over\n"); flag = 0 }
  :: timeout ->
     // Nothing is under way, and no life is over: nothing will ever happen again.
     for (i : 0 .. CLIENTS - 1) {
       assert(client[i].state == out || client[i].state == dead);  // no lost wake-up
       assert(entry[i] == none || client[i].state == dead)
     }
     assert(holder == nobody && flag == 0);  // nothing is left
     break
  od
}
