// Fewer states for the same answer. ../model.md argues why; none of it is about how the lock works.

#ifdef PRUNED

// Whether the copy of attempt k on node i may still have an effect.
#ifdef EXCLUSION
#define may_matter (attempt[k].stage != failed)
#else
#define may_matter \
  ((attempt[k].talk[i] == granted || attempt[k].talk[i] == confirming) && attempt[k].number[i] == counter[i])
#endif

// What can have no effect any more is as good as gone.
inline prune() {
  for (k : 0 .. ATTEMPTS - 1) {
    x = 0;  // confirms under way
    for (i : 0 .. NODES - 1) {
      if
      :: holder[i] == owner(k) && !may_matter -> holder[i] = 0
      :: else
      fi;
#if READERS > 0
      if
      :: reads(k) && !may_matter -> drop(own[i], k)
      :: else
      fi;
#ifdef EXCLUSION
      member[i] = member[i] & own[i];
      lapsed[i] = lapsed[i] & own[i];
#else
      member[i] = 0;
      lapsed[i] = 0;
#endif
#endif
      if
      :: attempt[k].talk[i] == confirming && !has_copy(k, i) && attempt[k].stage != settled -> hear_no_more(k, i)
      :: else
      fi;
      x = x + (attempt[k].talk[i] == confirming)
    }
    if
    :: attempt[k].stage == failed && x == 0 -> attempt[k].token = 0
    :: else
    fi
  }
}

#else
#define prune() skip
#endif

#ifdef SORTED

#define compare(a, b) if :: x == 0 && a != b -> x = (a > b -> 1 : 2) :: else fi
#define swap(a, b) x = a; a = b; b = x

// The nodes m and n are as alike as their names are arbitrary: the greater one goes first.
inline order(m, n) {
  x = 0;
  compare(counter[m], counter[n]);
  compare(holder[m], holder[n]);
#if READERS > 0
  compare(own[m], own[n]);
  compare(member[m], member[n]);
  compare(lapsed[m], lapsed[n]);
#endif
  for (k : 0 .. ATTEMPTS - 1) {
    compare(attempt[k].talk[m], attempt[k].talk[n]);
    compare(attempt[k].number[m], attempt[k].number[n])
  }
  if
  :: x == 2 ->
     swap(counter[m], counter[n]);
     swap(holder[m], holder[n]);
#if READERS > 0
     swap(own[m], own[n]);
     swap(member[m], member[n]);
     swap(lapsed[m], lapsed[n]);
#endif
     for (k : 0 .. ATTEMPTS - 1) {
       swap(attempt[k].talk[m], attempt[k].talk[n]);
       swap(attempt[k].number[m], attempt[k].number[n])
     }
  :: else
  fi
}

#define sort() order(0, 1); order(1, 2); order(0, 1)

#else
#define sort() skip
#endif

inline tidy() {
  prune();
  sort();
  check();
  i = 0; k = 0; x = 0
}
