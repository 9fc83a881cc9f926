# shellcheck shell=bash
# Tests every way in which a machine or a project can have hiredis. Source this file after tools.sh.
hiredis=$work/hiredis  # a separate installation that is found only if it is named explicitly

make_hiredis() {
  mkdir -p "$hiredis/lib/pkgconfig" "$hiredis/include" "$work/hiredis-config" "$work/hiredis-source"
  local header
  header=$(echo '#include <hiredis/hiredis.h>' | "${CXX:-c++}" -E -x c++ - | sed -n 's|^# 1 "\(.*/hiredis\)/hiredis.h".*|\1|p')
  cp -r "$header" "$hiredis/include"
  cp -L "$("${CXX:-c++}" -print-file-name=libhiredis.so)" "$hiredis/lib"
  cat >"$hiredis/lib/pkgconfig/hiredis.pc" <<END
Name: hiredis
Description: hiredis where only pkg-config finds it
Version: 1.0
Cflags: -I$hiredis/include/hiredis
Libs: -L$hiredis/lib -lhiredis
END
  cat >"$work/hiredis-config/hiredis-config.cmake" <<END
if(NOT TARGET hiredis::hiredis)
  add_library(hiredis::hiredis SHARED IMPORTED)
  set_target_properties(hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION "$hiredis/lib/libhiredis.so" INTERFACE_INCLUDE_DIRECTORIES "$hiredis/include")
endif()
END
  cp "$hiredis"/include/hiredis/*.h "$work/hiredis-source"
  cat >"$work/hiredis-source/CMakeLists.txt" <<END
add_library(hiredis INTERFACE)
target_link_libraries(hiredis INTERFACE "$hiredis/lib/libhiredis.so")
END
}

no_config=-DCMAKE_DISABLE_FIND_PACKAGE_hiredis=ON
no_hiredis=("$no_config" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_FIND_ROOT_PATH="$work/nowhere"
  -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY)

# Checks the find module that is installed with a static redlock; a shared one needs neither it nor OpenSSL.
check_finder() {
  local static=$1 shared=$2
  say "hiredis: a target that the project has"
  build_consumer "$work/with-target" -Dredlock_DIR="$static" -DHIREDIS_PREFIX="$hiredis"
  linked_with "$work/with-target" "$hiredis/lib/libhiredis.so"

  say "hiredis: a config package"
  build_consumer "$work/with-config" -Dredlock_DIR="$static" -Dhiredis_DIR="$work/hiredis-config"
  linked_with "$work/with-config" "$hiredis/lib/libhiredis.so"

  say "hiredis: pkg-config"
  PKG_CONFIG_PATH=$hiredis/lib/pkgconfig build_consumer "$work/with-pc" -Dredlock_DIR="$static" "$no_config"
  linked_with "$work/with-pc" "$hiredis/lib/libhiredis.so"

  say "hiredis: none"
  refuse_consumer 'which needs hiredis. Install hiredis with its headers: libhiredis-dev' \
    -Dredlock_DIR="$static" "${no_hiredis[@]}"
  refuse_consumer 'Install hiredis with its headers: libhiredis-dev' \
    -DREDLOCK_SOURCE_DIR="$source_dir" "${no_hiredis[@]}"
  build_consumer "$work/without" -Dredlock_DIR="$shared" "${no_hiredis[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
}
