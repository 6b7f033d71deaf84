#!/usr/bin/env bash
#
# jail.sh RELEASE <SCRIPT: runs a bash script as root of a bare Debian machine of that release, which
# has debootstrap's minimal system, and nothing of this machine but its network and, at /repository,
# this repository. What the script changes is gone afterwards. Needs root and debootstrap.

set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here release="$1"

# The bare system is made once, and then copied.
bare="${XDG_CACHE_HOME:-${HOME}/.cache}/rouse-debian/${release}"
if [[ ! -d ${bare} ]]; then
  new="$(mktemp -d "${bare}.XXXXXX")"
  trap 'rm -rf "${new}"' EXIT
  chmod 755 "${new}"
  # A release that this machine's debootstrap is too old to know is made as unstable is.
  script="/usr/share/debootstrap/scripts/${release}"
  [[ -e ${script} ]] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase "${release}" "${new}" "$("${here}/setup.sh" mirror)" "${script}" |
    grep -v '^I:' >&2 || [[ ${PIPESTATUS[0]} == 0 ]]
  # How this machine reaches the mirror.
  apt-config dump | grep '^Acquire::' >"${new}/etc/apt/apt.conf.d/99host"
  mv -T "${new}" "${bare}"
fi

jail="$(mktemp -d)"
trap 'rm -rf "${jail}"' EXIT
cp -a "${bare}/." "${jail}"
mkdir "${jail}/repository"
cat >"${jail}/root/script"

# pivot_root rather than chroot, inside which Bazel's sandbox could not make its namespaces. The
# mounts go with the namespace, and so does every process, Bazel's server among them.
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
