#!/usr/bin/env bash
#
# setup.sh install [PACKAGE...]: installs Debian's Bazel and clang 19, and further packages.
# setup.sh mirror:               prints the mirror from which apt takes this release of Debian.
# setup.sh bazelrc:              prints the path of a bazelrc with which Debian's Bazel builds this
#                                workspace without internet access. Creates the file if necessary,
#                                and downloads Debian's source archives from apt's mirror.

set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here
readonly cache="${XDG_CACHE_HOME:-${HOME:?is not set, so there is nowhere to keep archives}/.cache}/rouse-debian"

die() {
  echo "tools/bazel: $*" >&2
  exit 1
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# Runs apt-get quietly. If apt-get fails, prints its last error in one line, and exits.
apt() {
  local log
  log="$(DEBIAN_FRONTEND=noninteractive as_root apt-get -qq "$@" 2>&1)" ||
    die "apt-get $1 failed: $(grep '^E:' <<<"${log}" | tail -n1)"
}

# The bazel-* packages override WORKSPACE's repositories of the same names. clang uses g++'s headers and
# libraries. llvm-19 names the functions in a sanitizer's report. socat is a client in the tests of
# //examples.
readonly packages=(
  bazel-bootstrap bazel-rules-java bazel-skylib
  clang-19 libclang-rt-19-dev lld-19 llvm-19 g++
  socat
)

install_packages() {
  command -v apt-get >/dev/null || die "no Bazel is installed; install bazelisk"
  local missing
  missing="$(dpkg-query --show --showformat '${db:Status-Status}\n' "$@" 2>&1 |
    grep -vx installed || true)"
  [[ -n ${missing} ]] || return 0
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "packages are missing, and there is no sudo; run this once as root, or install bazelisk"
  echo "tools/bazel: installing Debian's $*" >&2
  apt update
  apt install -y --no-install-recommends "$@"
}

# Prints the mirror from which apt takes this release of Debian.
mirror() {
  # shellcheck disable=SC2016  # apt-get expands these.
  apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' |
    awk -v release="$(source /etc/os-release && echo "${VERSION_CODENAME}")" \
      '$1 == release { print $2; exit }'
}

# fetch_archives FOLDER: downloads Debian's copies of the archives of archives.txt, restores the archives
# that upstream published, and puts these into a folder.
fetch_archives() {
  local into="$1" site file sha256 name folder commit time log
  site="$(mirror)"
  [[ -n ${site} ]] || die "apt has no mirror for this release; run apt-get update as root"
  while read -r file sha256 name folder commit time; do
    # As root, because apt's sandbox user cannot write into the folder.
    log="$(/usr/lib/apt/apt-helper -o APT::Sandbox::User=root -qq download-file \
      "${site}/pool/${file}" "${into}/debian.tar.gz" "SHA256:${sha256}" 2>&1)" ||
      die "cannot download ${file} from apt's mirror; check the network: \
$(grep '^E:' <<<"${log}" | head -n1)"
    python3 "${here}/restore_archive.py" "${folder}" "${commit}" "${time}" \
      <"${into}/debian.tar.gz" >"${into}/${name}"
    rm "${into}/debian.tar.gz"
    # Bazel ignores an archive whose hash is not in deps.bzl, and would use the internet instead.
    sha256="$(sha256sum <"${into}/${name}")"
    grep -q "\"${sha256%% *}\"" "${here}/../../deps.bzl" ||
      die "${name} made from ${file} is not the archive in deps.bzl; correct deps.bzl or archives.txt"
  done < <(grep -v '^#' "${here}/archives.txt")
}

write_bazelrc() {
  local archives="$1" command
  for command in build fetch query sync; do
    # --distdir: Bazel takes an archive from this folder, by name and hash, before it tries the URL.
    # bazel_skylib: is loaded by the BUILD files of Abseil and Benchmark. Debian has a package.
    # rules_java: is loaded by the coverage tools of every test rule. Debian has a package.
    # rules_cc: Debian has no package. Bazel 4 has built-in C++ rules, which the copy here exports.
    # platforms: Debian's copy lacks constraints that the BUILD files of Abseil and Benchmark name.
    # remote_coverage_tools: is named by every test rule. Upstream's repository is a download of jars.
    cat <<EOF
${command} --distdir=${archives}
${command} --override_repository=bazel_skylib=/usr/share/bazel/tools/skylib
${command} --override_repository=platforms=${here}/platforms
${command} --override_repository=remote_coverage_tools=${here}/remote_coverage_tools
${command} --override_repository=rules_cc=${here}/rules_cc
${command} --override_repository=rules_java=/usr/share/bazel/rules/java
EOF
  done
  # Without this, Debian's Bazel prints every mount of the sandbox when an action fails.
  echo "build --nosandbox_debug"
  # A sandbox has a link to each input of an action. On a disk, the links take as long as a compilation.
  # A --sandbox_base on the command line overrides this.
  if has_room_in_memory; then echo "build --sandbox_base=/dev/shm"; fi
}

# Returns whether programs can be run in /dev/shm, with 4 GiB free there (a container often has 64 MiB), and
# 8 GiB of memory.
has_room_in_memory() {
  local probe status=1
  probe="$(mktemp -p /dev/shm 2>/dev/null)" || return
  chmod +x "${probe}"
  if [[ -x ${probe} ]] &&
    (($(df -k --output=avail /dev/shm | tail -n 1) >= 4 << 20)) &&
    (($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) >= 8 << 20)); then
    status=0
  fi
  rm "${probe}"
  return "${status}"
}

# Prints the path of the bazelrc. The archives and the bazelrc are both completed by a rename. An
# interrupted run therefore leaves no file that a later run would trust, and concurrent runs do not interfere.
print_bazelrc() {
  local archives rc
  archives="${cache}/$(cat "${here}"/{archives.txt,restore_archive.py} | cksum | cut -d' ' -f1)"
  mkdir -p "${cache}"
  made="$(mktemp -d "${cache}/new.XXXXXX")"
  trap 'rm -rf "${made}"' EXIT
  if [[ ! -d ${archives} ]]; then
    mkdir "${made}/archives"
    fetch_archives "${made}/archives"
    # Another run may have created the folder first. Its folder has the same contents.
    mv -T "${made}/archives" "${archives}" 2>/dev/null || [[ -d ${archives} ]]
  fi
  # Each clone has its own bazelrc, because the overrides name the clone's path.
  rc="${cache}/$(cksum <<<"${here}" | cut -d' ' -f1).bazelrc"
  write_bazelrc "${archives}" >"${made}/bazelrc"
  mv "${made}/bazelrc" "${rc}"
  echo "${rc}"
}

case "${1:-}" in
  install) install_packages "${packages[@]}" "${@:2}" ;;
  mirror) mirror ;;
  bazelrc) print_bazelrc ;;
  *)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
