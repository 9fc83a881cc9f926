#!/usr/bin/env bash
# Uses redlock as other projects do, static and shared: installed, by find_package and by pkg-config; and by
# add_subdirectory. Installs into a folder of its own, which goes again.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$source_dir/tests/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Configures, builds and runs the consumer: build_consumer FOLDER [arguments for cmake…]
build_consumer() {
  local folder=$1
  shift
  cmake -S "$here" -B "$folder" -DCMAKE_BUILD_TYPE=Debug "$@" >"$work/log" || { cat "$work/log"; return 1; }
  cmake --build "$folder" --parallel "$(nproc)" >"$work/log" || { cat "$work/log"; return 1; }
  "$folder/consumer"
}

for shared in OFF ON; do
  prefix=$work/installed-$shared
  echo "-- BUILD_SHARED_LIBS=$shared: install"
  cmake -S "$source_dir" -B "$work/build-$shared" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=$shared \
    -DREDLOCK_BUILD_TESTS=OFF -DREDLOCK_BUILD_BENCHMARK=OFF -DREDLOCK_BUILD_EXAMPLES=OFF \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
  cmake --build "$work/build-$shared" --parallel "$(nproc)" --target install >"$work/log" || { cat "$work/log"; exit 1; }

  echo "-- BUILD_SHARED_LIBS=$shared: find_package"
  build_consumer "$work/find-$shared" -DCMAKE_PREFIX_PATH="$prefix"

  echo "-- BUILD_SHARED_LIBS=$shared: pkg-config"
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  # shellcheck disable=SC2046 # flags are words
  "${CXX:-c++}" -std=c++20 "$here/consumer.cpp" -o "$work/consumer-$shared" $(pkg-config --cflags --libs redlock)
  LD_LIBRARY_PATH=$prefix/lib "$work/consumer-$shared"
done

echo "-- The shared library shows redlock's public names only"
# Weak symbols are left out: instances of the standard library's templates, which every C++ library has.
names=$(nm --dynamic --defined-only --demangle "$work/installed-ON/lib/libredlock.so" | sed -n 's/^[0-9a-f]* [A-TX-Z] //p')
[ -n "$names" ]
if grep -v '^redlock::v1::' <<<"$names" || grep '^redlock::v1::detail::' <<<"$names"; then exit 1; fi

echo "-- add_subdirectory"
build_consumer "$work/subdirectory" -DREDLOCK_SOURCE_DIR="$source_dir"
