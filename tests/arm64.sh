#!/usr/bin/env bash
# Runs the unit tests on 64-bit ARM: tests/arm64.sh [arguments for ctest…]
#
# Builds with Debian's cross compiler and runs with qemu, in a temporary system (see tests/fresh_machine.sh), because the
# libraries for ARM are installed there. Needs root. The processor of this machine executes what qemu translates, and
# may reorder fewer memory accesses than one of ARM: a missing memory barrier shows only where the compiler reorders.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/fresh_machine.sh" bookworm \
  'dpkg --add-architecture arm64' \
  '.ci/install make cmake catch2 libcli11-dev g++-aarch64-linux-gnu qemu-user-static libhiredis-dev:arm64 \
    libssl-dev:arm64 libsqlite3-dev:arm64 libstdc++6:arm64' \
  'cmake --preset arm64 && cmake --build --preset arm64 --parallel "$(nproc)" --target unit-tests' \
  "ctest --preset arm64 -L unit-tests $*"
