# shellcheck shell=bash
# Functions for the tests of the package. Source this file with `work`, a temporary folder, and `source_dir`, the folder
# of the project, set.
here=$source_dir/tests/package

# The compiler flags of a strict project. Flags from the environment are unset, as they would be added.
own_flags='-O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fvisibility=hidden'
unset CXXFLAGS CFLAGS LDFLAGS

say() { printf -- '-- %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

configure_consumer() { cmake -S "$here" -B "$1" -DCMAKE_CXX_FLAGS="$own_flags" "${@:2}"; }

# Configures, builds and runs the programs that use redlock: build_consumer FOLDER [arguments for cmake…]
build_consumer() {
  quietly configure_consumer "$@"
  quietly cmake --build "$1" --parallel "$(nproc)"
  local program
  for program in consumer testing-consumer; do
    quietly "$1/$program"
    check_flags "$1/CMakeFiles/$program.dir/flags.make"
  done
}

# The compiler gets the flags of the project, the folder of the headers and the language standard, and nothing else.
check_flags() {
  diff - <(sed -n '/^CXX_/ { s/ *$//; s/  */ /g; s|-I[^ ]*/include$|-I…/include|; p }' "$1") <<END
CXX_DEFINES =
CXX_INCLUDES = -I…/include
CXX_FLAGS = $own_flags -std=gnu++20
END
  not_hardened "$(dirname "$1")/link.txt"
}

# None of the flags by which redlock hardens its own builds is in these files.
not_hardened() {
  if grep -E -- '-fstack|-fcf-protection|FORTIFY|-z,?(now|relro)|-pie' "$@"; then fail "redlock's own flags in $*"; fi
}

# Checks that configuring fails with these words: refuse_consumer WORDS [arguments for cmake…]
refuse_consumer() {
  local words=$1 said=$work/said
  if configure_consumer "$work/refused" "${@:2}" >"$said" 2>&1; then fail "configured: ${*:2}"; fi
  rm -rf "$work/refused"
  # CMake wraps lines.
  grep -qF "$words" <<<"$(tr -s ' \n' ' ' <"$said")" || { cat "$said"; fail "it does not say: $words"; }
}

# Checks that the program is linked with FILE: linked_with FOLDER FILE
linked_with() { grep -qF " $2" "$1/CMakeFiles/consumer.dir/link.txt" || fail "$1 does not link $2"; }
