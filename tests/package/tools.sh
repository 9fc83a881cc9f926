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

# Checks that configuring into the folder $work/refused fails with these words: refuse WORDS COMMAND…
refuse() {
  local words=$1 said=$work/said
  if "${@:2}" >"$said" 2>&1; then fail "configured: ${*:2}"; fi
  rm -rf "$work/refused"
  # CMake wraps lines.
  grep -qF "$words" <<<"$(tr -s ' \n' ' ' <"$said")" || { cat "$said"; fail "it does not say: $words"; }
}

# The same for the programs that use redlock: refuse_consumer WORDS [arguments for cmake…]
refuse_consumer() { refuse "$1" configure_consumer "$work/refused" "${@:2}"; }

# Checks that the program is linked with FILE: linked_with FOLDER FILE
linked_with() { grep -qF " $2" "$1/CMakeFiles/consumer.dir/link.txt" || fail "$1 does not link $2"; }

# The symbols that a shared library exports, each after the letter of its kind.
symbols() { nm --dynamic --defined-only --demangle "$1" | cut -d ' ' -f 2-; }

# Reads such symbols, and prints those that are no functions of the API and no type information or virtual tables of its
# classes: not_of_the_api NAMESPACE
not_of_the_api() {
  awk -v api="^. ((vtable|typeinfo|typeinfo name) for )?$1::" \
    '$0 !~ api || /::(core|detail)::/ || /[(]anonymous namespace[)]|[{]lambda/'
}

# The positive control: a library that exports everything.
check_not_of_the_api() {
  cat >"$work/open.cpp" <<'END'
#include <functional>
#include <vector>
namespace redlock::inline v1 {
namespace core { void decide() {} }
namespace detail {
struct Shell { virtual ~Shell(); };
Shell::~Shell() = default;
}
struct Lease { void keep(const detail::Shell&); void release(); virtual ~Lease(); };
void Lease::keep(const detail::Shell&) {}
void Lease::release() { std::function<void()>{[] {}}(); }
Lease::~Lease() = default;
}
template class std::vector<int>;
int elsewhere;
END
  quietly "${CXX:-c++}" -std=c++20 -shared -fPIC "$work/open.cpp" -o "$work/libopen.so"
  local exported found symbol
  exported=$(symbols "$work/libopen.so")
  found=$(not_of_the_api redlock::v1 <<<"$exported" | cut -c 3-)
  for symbol in 'redlock::v1::core::decide()' 'vtable for redlock::v1::detail::Shell' elsewhere \
    'redlock::v1::Lease::keep(redlock::v1::detail::Shell const&)' 'std::vector<int, std::allocator<int> >::clear()'; do
    grep -qxF "$symbol" <<<"$found" || fail "not found: $symbol"
  done
  for symbol in 'redlock::v1::Lease::release()' 'typeinfo for redlock::v1::Lease'; do
    grep -qxF "$symbol" <<<"$(cut -c 3- <<<"$exported")" || fail "not exported: $symbol"
    ! grep -qxF "$symbol" <<<"$found" || fail "refused, though of the API: $symbol"
  done
}
