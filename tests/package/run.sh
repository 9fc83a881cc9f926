#!/usr/bin/env bash
# Uses redlock as other projects do: installed as a static and as a shared library, through find_package and pkg-config;
# and as part of a project, through add_subdirectory, without TLS, and FetchContent. Works in a temporary folder.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$source_dir/.ci/install" g++ make cmake pkg-config binutils libhiredis-dev libssl-dev catch2 libcli11-dev \
  nlohmann-json3-dev redis-server

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_BASEDIR=$work  # so that a compiler cache finds in one build folder what was compiled in another
joined=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0)  # compiles in a third of the time
source "$source_dir/tests/package/tools.sh"
source "$source_dir/tests/package/hiredis.sh"

# Installs into one folder and moves the installation to another: install_redlock KIND [arguments for cmake…]
install_redlock() {
  say "$1: install"
  quietly cmake -S "$source_dir" -B "$work/build-$1" -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_BENCHMARK=OFF \
    -DREDLOCK_BUILD_EXAMPLES=OFF -DREDLOCK_BUILD_TOOL=OFF "${joined[@]}" -DCMAKE_INSTALL_LIBDIR=lib "${@:2}"
  quietly cmake --build "$work/build-$1" --parallel "$(nproc)"
  quietly cmake --install "$work/build-$1" --prefix "$work/staging"
  mv "$work/staging" "$work/$1"
}

# Builds both programs with a plain call of the compiler and runs them.
use_pkgconfig() {
  local kind=$1 program library
  local -x PKG_CONFIG_PATH=$work/$kind/lib/pkgconfig LD_LIBRARY_PATH=$work/$kind/lib
  for program in consumer:redlock testing_consumer:redlock-testing; do
    library=${program#*:} program=${program%:*}
    # shellcheck disable=SC2046,SC2086 # flags are words
    quietly "${CXX:-c++}" -std=c++20 $own_flags "$here/$program.cpp" -o "$work/$program" \
      $(pkg-config "${@:2}" --cflags --libs "$library")
    quietly "$work/$program"
    [[ "$(pkg-config --cflags "$library")" =~ ^-I[^\ ]*/include\ -pthread\ *$ ]] ||
      fail "flags from pkg-config: $(pkg-config --cflags "$library")"
  done
  [[ " $(pkg-config --libs redlock-testing) " = *" -lredlock-testing "*"-lredlock "* ]] ||
    fail "libraries from pkg-config: $(pkg-config --libs redlock-testing)"
}

make_hiredis
# The static one without a build type, as in the guide; the shared one without optimisation, which compiles faster.
install_redlock static -DBUILD_SHARED_LIBS=OFF -DREDLOCK_TLS=ON
install_redlock shared -DBUILD_SHARED_LIBS=ON -DREDLOCK_TLS=ON -Dhiredis_DIR="$work/hiredis-config" \
  -DREDLOCK_BUILD_TOOL=ON -DCMAKE_BUILD_TYPE=None
for kind in static shared; do
  say "$kind: find_package"
  build_consumer "$work/find-$kind" -DCMAKE_PREFIX_PATH="$work/$kind" -DREDLOCK_VERSION=0.2
  say "$kind: pkg-config"
  use_pkgconfig $kind
  use_pkgconfig $kind --static
done

say "Components and versions"
from_static=-DCMAKE_PREFIX_PATH=$work/static
refuse_consumer 'its component other does not exist. There is one component: testing.' "$from_static" -DCOMPONENTS=other
refuse_consumer 'compatible with requested version "0.3"' "$from_static" -DREDLOCK_VERSION=0.3
quietly cmake --install "$work/build-static" --prefix "$work/plain" --component redlock
refuse_consumer 'its component testing was not installed. Build and install redlock with -DREDLOCK_BUILD_TESTING=ON.' \
  -DCMAKE_PREFIX_PATH="$work/plain"

say "The command, from wherever it is installed"
quietly "$work/shared/bin/redlock" run --local 3 -n invoice/42 -- true

check_finder "$work/static/lib/cmake/redlock" "$work/shared/lib/cmake/redlock"

say "The check of exported symbols finds each kind of symbol that does not belong to the API"
check_not_of_the_api

say "Headers without hiredis, libraries with public names and a versioned one of their own"
if grep -ri hiredis "$work/static/include"; then fail "a public header mentions hiredis"; fi
for library in redlock:v1 redlock-testing:testing; do
  file=$work/shared/lib/lib${library%:*}.so
  exported=$(symbols "$file")
  grep -q '^T ' <<<"$exported" || fail "$file exports nothing"
  internal=$(not_of_the_api "redlock::${library#*:}" <<<"$exported")
  [ -z "$internal" ] || fail "exported by $file: $internal"
  grep -q "SONAME  *lib${library%:*}.so.0.2$" <<<"$(objdump -p "$file")" || fail "the SONAME of $file"
done

say "Hardened libraries, which ask nothing of those who link them"
"$here/hardening.sh" "$work"/static/lib/*.a
grep -q 'CXX_FLAGS = .*-O3 .*-D_FORTIFY_SOURCE=3' "$work/build-static/CMakeFiles/redlock.dir/flags.make" ||
  fail "a build without a type is not a release"
quietly cmake "$work/build-shared" -DCMAKE_BUILD_TYPE=Release  # from here on, it is of no more use
grep -q 'CXX_FLAGS = .*-D_FORTIFY_SOURCE=3' "$work/build-shared/CMakeFiles/redlock.dir/flags.make" ||
  fail "a shared library of a release is not fortified"
"$here/hardening.sh" --unoptimised "$work"/shared/lib/*.so "$work/shared/bin/redlock"
not_hardened "$work"/{static,shared}/lib/{cmake/redlock,pkgconfig}/*

say "The example with Catch2"
quietly cmake -S "$source_dir/examples/testing" -B "$work/example" -DCMAKE_PREFIX_PATH="$work/shared"
quietly cmake --build "$work/example"
quietly ctest --test-dir "$work/example" --no-tests=error

say "Without OpenSSL: a preset refuses, and so leaves out no test of TLS; without a preset there is no TLS"
without_openssl=(-S "$source_dir" -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
refuse 'needs OpenSSL 3.0 or newer' cmake --preset release -B "$work/refused" "${without_openssl[@]}"
quietly cmake -B "$work/without-openssl" "${without_openssl[@]}" -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_BENCHMARK=OFF \
  -DREDLOCK_BUILD_EXAMPLES=OFF -DREDLOCK_BUILD_TOOL=OFF
grep -qF 'TLS: none' "$work/log" || fail "it does not say that there is no TLS"

say "add_subdirectory, with hiredis in the project as well"
build_consumer "$work/subdirectory" -DREDLOCK_SOURCE_DIR="$source_dir" -DHIREDIS_SOURCE_DIR="$work/hiredis-source" \
  -DREDLOCK_TLS=OFF "${joined[@]}"
grep -q "hiredis-include" "$work/subdirectory/redlock/CMakeFiles/redlock.dir/flags.make"
not_hardened "$work"/subdirectory/redlock/CMakeFiles/redlock.dir/{flags.make,link.txt}
say "A build without TLS says how to get it"
said=$("$work/subdirectory/consumer" rediss://127.0.0.1:1)
grep -q 'rediss://127.0.0.1:1: this build of redlock has no TLS: install OpenSSL 3.0' <<<"$said" || fail "said: $said"

say "FetchContent, with hiredis installed"
build_consumer "$work/fetched" -DREDLOCK_SOURCE_DIR="$source_dir" -DFETCH=ON -DBUILD_SHARED_LIBS=ON "${joined[@]}"
quietly cmake --install "$work/fetched" --prefix "$work/nothing"
[ ! -e "$work/nothing" ] || fail "a guest installs itself"
