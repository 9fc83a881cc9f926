#!/usr/bin/env bash
# Executes the commands of documents exactly as a new user would:
#
#   tests/newcomer.sh [--built] [DOCUMENT…]     README.md and then docs/guide.md, unless others are named
#
# --built skips the two commands of the README, which take minutes, if they have been run here before.
# Each document gets a shell and a home folder of its own, and starts in the checkout. The last line before a fenced block,
# or else the language of the block, determines what happens to it:
#
#   … `path/to/file`:      the block is written to that file
#   <!-- path/to/file -->  the block must equal that file of the checkout
#   <!-- lines of path/to/file -->  the block must be consecutive lines of that file of the checkout, in any indentation
#   ```sh                  the block is run; it must print the lines that begin with #>, in this order, except that times,
#                          ports, owner values and tokens may differ; compilers must not warn
#   ```text ```console ```cmake   the block is not executed
#
# Any other block is an error, so that every block is checked. Stops at the first failure and prints its line.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkout=$PWD
left_out='^$'
if [ "${1:-}" = --built ]; then
  left_out='^(examples/quickstart[.]sh|tests/run[.]sh)$'
  shift
fi
[ $# -gt 0 ] || set -- README.md docs/guide.md

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
printed=$work/printed
: >"$printed"

# The document as a script with the same line numbers, so that bash reports the line of the document.
as_script() {
  awk -v left_out="$left_out" '
    function name_in_lead(before, after) { return substr(lead, RSTART + before, RLENGTH - before - after) }
    function opening(language) {
      end = "END_OF_BLOCK"
      if (match(lead, /`[^` ]+`:$/)) return "write " name_in_lead(1, 2) " <<\\END_OF_BLOCK || false"
      if (match(lead, /^<!-- [^ ]+ -->$/)) return "compare " name_in_lead(5, 4) " <<\\END_OF_BLOCK || false"
      if (match(lead, /^<!-- lines of [^ ]+ -->$/)) return "excerpt " name_in_lead(14, 4) " <<\\END_OF_BLOCK || false"
      if (language == "sh") { end = "end " FNR " || false"; return "begin" }
      end = ""
      if (language ~ /^(text|console|cmake)$/) return ""
      return "refuse \"This block is neither run, nor written to a file, nor the copy of one.\" || false"
    }
    /^ +```/         { print "refuse \"This block is indented.\" || false"; next }
    /^```/ && inside { inside = 0; lead = ""; print end; next }
    /^```/           { inside = 1; print opening(substr($0, 4)); next }
    inside           { print(end == "" || $0 ~ left_out ? "" : $0); next }
                     { if (NF) lead = $0; print "" }
    END              { if (inside) print end "\nrefuse \"The last block has no end.\" || false" }' "$1"
}

# Run before and after each sh block. The output of a block is shown after its end.
begin() {
  exec >"$printed" 2>&1
  set -x
}
end() {
  { set +x; } 4>/dev/null
  ! grep -qE '^[^ ]+:[0-9]+: warning:|^CMake Warning' "$printed" || refuse "A warning." || return 1
  find_in_order <(sed -n "$1,/^\`\`\`\$/s/^#> //p" "$checkout/$document" | alike) <(alike <"$printed") || return 1
  show
}
show() {
  exec >&3 2>&4
  cat "$printed"
  : >"$printed"
}
find_in_order() {
  awk 'FILENAME == ARGV[1] { expected[FNR] = $0; next }
       found + 1 in expected && $0 == expected[found + 1] { ++found }
       END { if (found + 1 in expected) { print "Not printed: " expected[found + 1]; exit 1 } }' "$1" "$2"
}
alike() { sed -E 's/[0-9a-f]{40}/OWNER/g; s/([0-9a-f]{8} )?[^ ]+:[0-9]+ (sh|redlock|echo)\>/HOLDER/g; s/since [-0-9]+ [:0-9]+ UTC/since TIME/g; s/\<[0-9]{4}-[0-9]{2}-[0-9]{2} [:0-9]{8}\>/TIME/g; s/\<[0-9]{16}\>/TOKEN/g; s/[0-9.]+ (ms|s)\>/TIME/g; s/127\.0\.0\.1:[0-9]{4,}/NODE/g; s/  +/  /g'; }

refuse() {
  echo "$*"
  return 1
}
write() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
compare() { diff -u --label "$1" --label "$1, in the document" "$checkout/$1" -; }
excerpt() {
  local wanted text
  wanted=$(sed 's/^ *//') text=$(sed 's/^ *//' "$checkout/$1")
  [[ $'\n'$text$'\n' == *$'\n'"$wanted"$'\n'* ]] || refuse "These lines are not in $1."
}

follow() {
  local name=${document##*/}
  printf '\n##### %s\n' "$document"
  as_script "$document" >"$work/$name"
  export HOME=$work/home-$name
  mkdir "$HOME"
  exec 3>&1 4>&2 </dev/null
  BASH_XTRACEFD=4
  PS4="+ $document:\$LINENO: "
  trap '{ line=$LINENO; } 4>/dev/null' ERR
  trap leave EXIT
  # shellcheck disable=SC1090
  source "$work/$name"
  followed_to_the_end=yes
}
# Also runs after an `exit` or an error for which bash ends the shell, and prints the line.
leave() {
  { set +x; } 4>/dev/null
  show
  [ -z "${followed_to_the_end:-}" ] || exit 0
  echo "Failed: $document${line:+, line $line}" >&2
  exit 1
}

# Strict warnings: no code of the documents or of redlock's headers may cause one.
export CXXFLAGS='-Wall -Wextra -Wpedantic -Wconversion -Wshadow'
for document in "$@"; do
  (follow)
done
