#!/usr/bin/env bash
#
# Builds the peers' servers that are measured beside rouse_stream, the load, and Tokio's workloads of
# tokio/src/sync_bench.rs. Runs on Debian 12. Writes the programs to
# ${PEERS_OUT:-$HOME/.cache/rouse-peers}/bin. Installs missing packages with apt-get.
#
# Uses Debian's Tokio or, if TOKIO_REGISTRY names a folder of unpacked crates, the Tokio in that
# folder.

set -euo pipefail

sources="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="${PEERS_OUT:-${HOME}/.cache/rouse-peers}"
mkdir -p "${out}/bin"
out="$(cd "${out}" && pwd)"

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local wanted=(g++ libasio-dev libuv1-dev librust-tokio-dev python3) package missing=()
  command -v cargo >/dev/null || wanted+=(cargo)
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "${package}" 2>/dev/null) == installed ]] ||
      missing+=("${package}")
  done
  ((${#missing[@]})) || return 0
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

build_native() {
  local flags=(-O3 -DNDEBUG -Wall)
  gcc "${flags[@]}" "${sources}/stream_load.c" -o "${out}/bin/stream_load"
  gcc "${flags[@]}" "${sources}/epoll_stream.c" -o "${out}/bin/epoll_stream"
  gcc "${flags[@]}" "${sources}/uv_stream.c" -o "${out}/bin/uv_stream" -luv
  g++ -std=c++20 "${flags[@]}" -pthread "${sources}/asio_stream.cc" -o "${out}/bin/asio_stream"
}

build_tokio() {
  local work="${out}/tokio-stream" registry="${TOKIO_REGISTRY:-/usr/share/cargo/registry}"
  rm -rf "${work}/src" "${work}/Cargo.lock"
  mkdir -p "${work}/.cargo"
  cp -r "${sources}/tokio/Cargo.toml" "${sources}/tokio/src" "${work}/"
  cat >"${work}/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "${registry}"
[net]
offline = true
END
  (cd "${work}" && cargo build --quiet --release --target-dir target)
  install "${work}/target/release/"{tokio_stream,tokio_sync} "${out}/bin/"
  sed -n '/^name = "tokio"$/{n;s/^version = "\(.*\)"$/\1/p}' "${work}/Cargo.lock" \
    >"${out}/bin/tokio_stream.version"
}

install_packages
build_native
build_tokio
echo "The programs are in ${out}/bin, with Tokio $(<"${out}/bin/tokio_stream.version")."
