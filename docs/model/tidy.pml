// Fewer states for the same answer. ../model.md argues why; none of it is about how the lock works.

#ifdef PRUNED

// What can have no effect any more is as good as gone.
inline prune() {
  for (k : 0 .. ATTEMPTS - 1) {
    x = 0;  // confirms under way
    for (i : 0 .. NODES - 1) {
      if
      :: attempt[k].talk[i] == confirming && holder[i] != owner(k) && attempt[k].stage != settled -> hear_no_more(k, i)
      :: else
      fi;
      if
      :: holder[i] == owner(k) && attempt[k].talk[i] != granted && attempt[k].talk[i] != confirming -> holder[i] = 0
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
  for (k : 0 .. ATTEMPTS - 1) {
    compare(attempt[k].talk[m], attempt[k].talk[n]);
    compare(attempt[k].number[m], attempt[k].number[n])
  }
  if
  :: x == 2 ->
     swap(counter[m], counter[n]);
     swap(holder[m], holder[n]);
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
  i = 0; k = 0; x = 0
}
