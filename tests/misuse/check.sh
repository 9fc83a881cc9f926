#!/usr/bin/env bash
# The compiler refuses each line of misuse.cpp that ends with `// refused: REASON`, for that reason, and no other line:
# tests/misuse/check.sh COMPILER [OPTION…]. All are in one file because the headers take most of the time.
set -euo pipefail
file=$(dirname "${BASH_SOURCE[0]}")/misuse.cpp

# clang stops after 20 errors by default.
limit=()
if "$1" --version | grep -q clang; then limit=(-ferror-limit=0); fi
errors=$("$@" "${limit[@]}" -DMISUSES "$file" 2>&1 | sed -n 's/^[^ ]*misuse[.]cpp:\([0-9]*\):[0-9]*: error: /\1 /p') || true
outcome=0
while IFS=: read -r line text; do
  reason=${text##*// refused: }
  if ! grep -Eq "^$line .*($reason)" <<<"$errors"; then
    echo "misuse.cpp:$line is not refused for this reason:$text"
    outcome=1
  fi
  errors=$(grep -v "^$line " <<<"$errors" || true)
done < <(grep -n '// refused: ' "$file")
if [ -n "$errors" ]; then
  printf 'other errors, by line:\n%s\n' "$errors"
  outcome=1
fi
exit $outcome
