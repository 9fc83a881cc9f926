#!/usr/bin/env bash
# Runs commands in a checkout of this project on a minimal Debian system, one after the other:
#
#   tests/fresh_machine.sh [bookworm|trixie|… [COMMAND…]]
#
# `tests/fresh_machine.sh` runs the two commands of the README on Debian 12. Creates a minimal system in a temporary
# folder, from the mirror that apt uses on this machine, and runs the commands there with chroot. Needs root. Mounts and
# processes are in namespaces of their own, so nothing is left behind however the script ends. If REDLOCK_DEBIAN_CACHE is
# set, minimal systems are kept in that folder for the next run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" -eq 0 ] || { echo "tests/fresh_machine.sh needs root" >&2; exit 1; }

if [ "${1:-}" = --in-namespace ]; then
  root=$2
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"
  for command in "${@:3}"; do
    printf '\n##### %s\n' "$command"
    SECONDS=0
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      REDLOCK_CONTEST_SECONDS="${REDLOCK_CONTEST_SECONDS:-60}" sh -c "cd /redlock && $command"
    echo "##### $command: $SECONDS s"
  done
  exit
fi

suite=${1:-bookworm}
commands=("${@:2}")
[ $# -gt 1 ] || commands=(examples/quickstart.sh tests/run.sh)

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM
root=$work/root
kept=${REDLOCK_DEBIAN_CACHE:-$work}/$suite

if [ ! -d "$kept" ]; then
  echo "##### Making a fresh Debian ($suite)"
  .ci/install debootstrap
  # The address of the archive, without those for updates and security, which debootstrap does not need.
  mirror=$(apt-get indextargets --format '$(LABEL)|$(ORIGIN)|$(SUITE)|$(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^Debian|Debian|[^|-]*|//p' | head -n 1)
  [ -n "$mirror" ] || { echo "apt knows no Debian mirror; try apt-get update" >&2; exit 1; }
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  # A hosts file, which a chroot lacks; and a policy that starts no services, as they would run on this machine.
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  apt-config dump Acquire | grep -i '::proxy' >"$root/etc/apt/apt.conf.d/proxy" || true
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/throwaway"  # a temporary system need not survive a crash
  mv "$root" "$kept"
  echo "##### Made in $SECONDS s"
fi
if [ -n "${REDLOCK_DEBIAN_CACHE:-}" ]; then cp -a "$kept" "$root"; else mv "$kept" "$root"; fi

mkdir "$root/redlock"
tar --exclude='./.git' --exclude='./build*' -cf - . | tar -xf - -C "$root/redlock"
unshare --mount --pid --fork --kill-child "${BASH_SOURCE[0]}" --in-namespace "$root" "${commands[@]}"
