#!/usr/bin/env bash
#
# grpc_root.sh: prints the flags with which //grpc builds on Debian 12, without gRPC's packages for
# development:
#
#   tools/bazel test $(tools/debian/grpc_root.sh) //grpc:tests
#
# Downloads the packages from apt's mirror if necessary, and unpacks them into a folder of the user's cache.
# An installed package would put another version of Abseil into /usr/include, and would make Bazel compile
# everything again. The folder is a repository of Bazel, which only the flags name.

set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here
readonly cache="${XDG_CACHE_HOME:-${HOME:?is not set, so there is nowhere to keep packages}/.cache}/rouse-debian"

die() {
  echo "tools/debian/grpc_root.sh: $*" >&2
  exit 1
}

# Headers, protoc and its plugin.
readonly packages=(
  libgrpc++-dev libgrpc-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
)
# The shared libraries. These packages have no headers, and can be installed.
readonly libraries=(libgrpc++1.51 libgrpc29 libprotobuf32 libprotoc32)

# write_repository FOLDER FINAL: makes a folder, which will be at FINAL, a repository of Bazel.
write_repository() {
  touch "$1/WORKSPACE"
  cat >"$1/protoc.sh" <<EOF
#!/bin/sh
exec '$2/usr/bin/protoc' '--plugin=protoc-gen-grpc=$2/usr/bin/grpc_cpp_plugin' "\$@"
EOF
  chmod +x "$1/protoc.sh"
  # The libraries are named with their versions, because only packages for development have the other names.
  # gRPC's headers include a header of Abseil, which must be Rouse's: see docs/guide/grpc.md.
  cat >"$1/BUILD.bazel" <<'EOF'
cc_library(
    name = "grpc++",
    hdrs = glob(["usr/include/**"]),
    includes = ["usr/include"],
    linkopts = [
        "-l:libgrpc++.so.1.51",
        "-l:libgrpc.so.29",
        "-l:libgpr.so.29",
        "-l:libprotobuf.so.32",
    ],
    visibility = ["//visibility:public"],
    deps = ["@abseil-cpp//absl/synchronization"],
)

filegroup(
    name = "protoc",
    srcs = ["protoc.sh"],
    visibility = ["//visibility:public"],
)
EOF
}

command -v apt-get >/dev/null || die "apt-get is missing; this script is for Debian 12"
"${here}/setup.sh" install "${libraries[@]}"

root="${cache}/grpc-$(cksum <"${BASH_SOURCE[0]}" | cut -d' ' -f1)"
readonly root
if [[ ! -d ${root} ]]; then
  mkdir -p "${cache}"
  made="$(mktemp -d "${cache}/new.XXXXXX")"
  trap 'rm -rf "${made}"' EXIT
  mkdir "${made}/packages" "${made}/root"
  # As root, because apt's sandbox user cannot write into the folder.
  log="$(cd "${made}/packages" &&
    apt-get -o APT::Sandbox::User=root -qq download "${packages[@]}" 2>&1)" ||
    die "cannot download ${packages[*]}; run apt-get update as root: $(grep '^E:' <<<"${log}" | head -n1)"
  for package in "${made}"/packages/*.deb; do
    dpkg-deb --extract "${package}" "${made}/root"
  done
  write_repository "${made}/root" "${root}"
  # Completed by a rename. Another run may have created the folder first, with the same contents.
  mv -T "${made}/root" "${root}" 2>/dev/null || [[ -d ${root} ]]
fi
echo "--override_repository=rouse_grpc=${root}"
echo "--//grpc:grpc++=@rouse_grpc//:grpc++"
echo "--//grpc:protoc=@rouse_grpc//:protoc"
