#!/usr/bin/env bash
#
# jail.sh RELEASE <SCRIPT: runs a bash script as root in a bare system of a Debian release. The
# system has debootstrap's minimal packages. Of this machine, it has only the network and, at
# /repository, this repository. The script's changes are removed afterwards. Needs root and
# debootstrap.

set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here release="$1"

# The first run creates the bare system, and every run copies it.
bare="${XDG_CACHE_HOME:-${HOME}/.cache}/rouse-debian/${release}"
if [[ ! -d ${bare} ]]; then
  new="$(mktemp -d "${bare}.XXXXXX")"
  trap 'rm -rf "${new}"' EXIT
  chmod 755 "${new}"
  # If this machine's debootstrap is too old to know the release, the script for unstable is used.
  script="/usr/share/debootstrap/scripts/${release}"
  [[ -e ${script} ]] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase "${release}" "${new}" "$("${here}/setup.sh" mirror)" "${script}" |
    grep -v '^I:' >&2 || [[ ${PIPESTATUS[0]} == 0 ]]
  # The jail reaches the mirror in the same way as this machine.
  apt-config dump | grep '^Acquire::' >"${new}/etc/apt/apt.conf.d/99host"
  mv -T "${new}" "${bare}"
fi

jail="$(mktemp -d)"
trap 'rm -rf "${jail}"' EXIT
cp -a "${bare}/." "${jail}"
mkdir "${jail}/repository"
cat >"${jail}/root/script"

# Uses pivot_root, because Bazel's sandbox cannot create its namespaces inside a chroot. The mounts
# and all processes, including Bazel's server, end with the namespace.
# shellcheck disable=SC2016  # The inner shell expands these.
unshare --mount --pid --fork -- bash -euc '
  jail="$1" repository="$2"
  mount --bind "${jail}" "${jail}"
  mount --bind -o ro "${repository}" "${jail}/repository"
  mount -t proc proc "${jail}/proc"
  mount --rbind /dev "${jail}/dev"
  mount --rbind /sys "${jail}/sys"
  cp /etc/resolv.conf /etc/hosts "${jail}/etc/"
  cd "${jail}"
  pivot_root . .
  umount -l .
  cd /root
  exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin bash script </dev/null
' jail.sh "${jail}" "${here%/tools/debian}"
