#!/usr/bin/env bash
# Checks that programs and libraries are hardened, by what is in the files:
#
#   tests/package/hardening.sh FILE…                 programs, shared libraries and static libraries
#   tests/package/hardening.sh --unoptimised FILE…   the same without _FORTIFY_SOURCE, which needs optimisation
#   tests/package/hardening.sh --level FILE          an object of fortify_probe.cpp: for _FORTIFY_SOURCE=3, of which 2 is a part
#   tests/package/hardening.sh --control             checks that it finds everything that a plain program and library lack
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unoptimised=
missing=0
lacks() { echo "$1 has no $2"; missing=$((missing + 1)); }
shows() { grep -qE -- "$1" <<<"$2"; }

check_linking() {
  local file=$1 elf
  elf=$(readelf --wide --file-header --segments --dynamic "$file")
  shows 'Type: +DYN ' "$elf" || lacks "$file" "position-independent code"
  shows '^ *GNU_RELRO ' "$elf" || lacks "$file" "relocations that become read-only"
  shows '\((FLAGS|FLAGS_1)\).* (BIND_NOW|NOW)' "$elf" || lacks "$file" "early binding: its table of functions stays writable"
  shows '^ *GNU_STACK .* RW +0x' "$elf" || lacks "$file" "stack that is not executable"
}

# redlock-testing copies nothing whose size the compiler knows, and has no large frame.
is_testing() { [[ $1 = *redlock-testing* ]]; }

check_calls() {
  local file=$1 symbols
  symbols=$(nm --undefined-only "$file"; nm --undefined-only --dynamic "$file" 2>&1)
  shows ' U __stack_chk_fail' "$symbols" || lacks "$file" "stack protector"
  [ -n "$unoptimised" ] || is_testing "$file" ||
    shows ' U __(mem|v?snprintf|str|read|recv|fd)[a-z]*_chk' "$symbols" || lacks "$file" "checks of sizes (_FORTIFY_SOURCE)"
}

# Programs that are fortified by 2 or by 3 call the same functions. They differ in what is checked.
check_level() {
  shows ' U __memcpy_chk' "$(nm --undefined-only "$1")" || lacks "$1" "checks of sizes that only the running program knows (_FORTIFY_SOURCE=3)"
}

# In linked files by their code. The note about control-flow protection is there only if all objects have it, and those
# that Debian's C library adds to each program (Scrt1.o, crti.o) have not.
check_code() {
  local file=$1 code objects
  shows X86-64 "$(readelf --file-header "$file")" || return 0
  if [[ $file = *.a ]]; then
    objects=$(grep -c '\.o$' <<<"$(ar t "$file")")
    [ "$(grep -c 'x86 feature: IBT, SHSTK' <<<"$(readelf --wide --notes "$file")")" -eq "$objects" ] ||
      lacks "$file" "control-flow protection in each object"
    return 0
  fi
  code=$(objdump --disassemble --no-show-raw-insn "$file")
  # gcc has an instruction of its own for this, and clang one that other code has as well.
  is_testing "$file" || shows 'orq? +\$0x0,.*\(%rsp' "$code" || shows 'clang version' "$(readelf -p .comment "$file")" ||
    lacks "$file" "protection from a stack that grows into other memory"
  # Startup code of the compiler has two of these.
  [ "$(grep -c endbr64 <<<"$code")" -gt 10 ] || lacks "$file" "control-flow protection"
}

check() {
  [[ $1 = *.a ]] || check_linking "$1"
  check_calls "$1"
  check_code "$1"
}

if [ "${1:-}" = --control ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  echo 'int main() {}' | "${CXX:-c++}" -x c++ -c -fno-pie -fno-stack-protector -fcf-protection=none -o plain.o -
  "${CXX:-c++}" plain.o -o program -no-pie -Wl,-z,norelro,-z,lazy,-z,execstack
  ar rc library.a plain.o
  "${CXX:-c++}" -c -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 "$here/fortify_probe.cpp" -o probe.o
  check program
  check library.a
  check_level probe.o
  case $(uname -m) in
    x86_64) [ $missing -eq 12 ] ;;
    *) [ $missing -eq 9 ] ;;
  esac
  exit
fi

if [ "${1:-}" = --level ]; then
  check_level "$2"
  [ $missing -eq 0 ]
  exit
fi

if [ "${1:-}" = --unoptimised ]; then
  unoptimised=yes
  shift
fi
for file in "$@"; do check "$file"; done
[ $missing -eq 0 ]
