#!/usr/bin/env bash
#
# setup.sh install [PACKAGE...]: installs Debian's Bazel and clang 19, and further packages.
# setup.sh mirror:               prints the mirror that apt is set up with.
# setup.sh bazelrc:              prints the path of a bazelrc with which Debian's Bazel builds this
#                                workspace without internet; makes it first, from Debian's source
#                                archives, if need be.

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

# Runs apt-get quietly; if it fails, its last error is our one line.
apt() {
  local log
  log="$(DEBIAN_FRONTEND=noninteractive as_root apt-get -qq "$@" 2>&1)" ||
    die "apt-get $1 failed: $(grep '^E:' <<<"${log}" | tail -n1)"
}

# The bazel-* packages are what WORKSPACE's archives of the same names are overridden with.
# clang uses g++'s headers and libraries; llvm-19 names the functions in a sanitizer's report.
# socat is a client in the tests of //examples/echo.
readonly packages=(
  bazel-bootstrap bazel-rules-java bazel-skylib
  clang-19 libclang-rt-19-dev lld-19 llvm-19 g++
  socat
)

install_packages() {
  command -v apt-get >/dev/null || die "no Bazel here; install bazelisk"
  local missing
  missing="$(dpkg-query --show --showformat '${db:Status-Status}\n' "$@" 2>&1 |
    grep -vx installed || true)"
  [[ -n ${missing} ]] || return 0
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "no Bazel here; run once as root, or install bazelisk"
  echo "tools/bazel: installing Debian's $*" >&2
  apt update
  apt install -y --no-install-recommends "$@"
}

# The mirror that apt takes this release of Debian from.
mirror() {
  # shellcheck disable=SC2016  # apt-get expands these.
  apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' |
    awk -v release="$(source /etc/os-release && echo "${VERSION_CODENAME}")" \
      '$1 == release { print $2; exit }'
}

# Puts the archives of archives.txt, as upstream publishes them, into a folder.
fetch_archives() {
  local into="$1" site file sha256 name folder commit time log
  site="$(mirror)"
  [[ -n ${site} ]] || die "apt knows no mirror; run apt-get update as root"
  while read -r file sha256 name folder commit time; do
    # apt's sandbox user could not write into our folder.
    log="$(/usr/lib/apt/apt-helper -o APT::Sandbox::User=root -qq download-file \
      "${site}/pool/${file}" "${into}/debian.tar.gz" "SHA256:${sha256}" 2>&1)" ||
      die "cannot get ${file} from apt's mirror: $(grep '^E:' <<<"${log}" | head -n1)"
    python3 "${here}/restore_archive.py" "${folder}" "${commit}" "${time}" \
      <"${into}/debian.tar.gz" >"${into}/${name}"
    rm "${into}/debian.tar.gz"
    # Bazel passes over an archive whose hash is not deps.bzl's, and goes to the internet for it.
    sha256="$(sha256sum <"${into}/${name}")"
    grep -q "\"${sha256%% *}\"" "${here}/../../deps.bzl" ||
      die "${name} made from ${file} is not the archive that deps.bzl names"
  done < <(grep -v '^#' "${here}/archives.txt")
}

write_bazelrc() {
  local archives="$1" command
  for command in build fetch query sync; do
    # --distdir: Bazel takes an archive from there, by name and hash, before it tries its URL.
    # bazel_skylib: Abseil's and Benchmark's BUILD files load it; Debian has it packaged.
    # rules_java: every test rule's coverage tools do; Debian has it packaged.
    # rules_cc: not in Debian. In Bazel 4 the C++ rules are built in; ours hands them on.
    # platforms: Debian's copy lacks constraints that Abseil's and Benchmark's BUILD files name.
    # remote_coverage_tools: every test rule names it; upstream's is a download of jars.
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
}

# Both the archives and the bazelrc come to be by a rename, so that a run which is cut short leaves
# nothing behind that a later one would trust, and runs at the same time do not meet.
print_bazelrc() {
  local archives rc
  archives="${cache}/$(cat "${here}"/{archives.txt,restore_archive.py} | cksum | cut -d' ' -f1)"
  mkdir -p "${cache}"
  made="$(mktemp -d "${cache}/new.XXXXXX")"
  trap 'rm -rf "${made}"' EXIT
  if [[ ! -d ${archives} ]]; then
    mkdir "${made}/archives"
    fetch_archives "${made}/archives"
    # Another run may have been first; its folder is as good as this one.
    mv -T "${made}/archives" "${archives}" 2>/dev/null || [[ -d ${archives} ]]
  fi
  # One for each clone: the overrides name its path.
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
