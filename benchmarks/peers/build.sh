#!/usr/bin/env bash
#
# Builds the peers' programs, and the programs that load servers, on Debian 12. Writes the programs to
# ${PEERS_OUT:-$HOME/.cache/rouse-peers}/bin, and the versions to the file `versions` there. Installs
# missing packages with apt-get, among them the library that //examples/http_hello needs. Does not install
# nginx and wrk, which only the group `http` needs: the package of nginx starts a server.
#
# Uses Debian's Tokio or, if TOKIO_REGISTRY names a folder of unpacked crates, the Tokio in that
# folder. Uses the cargo on the PATH.

set -euo pipefail

sources="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="${PEERS_OUT:-${HOME}/.cache/rouse-peers}"
mkdir -p "${out}/bin"
out="$(cd "${out}" && pwd)"

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local wanted=(g++ golang-go libasio-dev libhttp-parser-dev libuv1-dev librust-async-channel-dev librust-tokio-dev
    python3)
  local package missing=()
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
  local flags=(-O3 -DNDEBUG -Wall) program
  for program in echo_load idle_load stream_load epoll_echo epoll_stream; do
    gcc "${flags[@]}" "${sources}/${program}.c" -o "${out}/bin/${program}"
  done
  for program in uv_echo uv_stream; do
    gcc "${flags[@]}" "${sources}/${program}.c" -o "${out}/bin/${program}" -luv
  done
  flags+=(-std=c++20 -pthread)
  local programs=(asio_bench asio_echo asio_hello asio_stream bare_bench)
  # The comparison does not need Boost.
  if [[ -e /usr/include/boost/beast.hpp ]]; then programs+=(beast_http); fi
  for program in "${programs[@]}"; do
    g++ "${flags[@]}" "${sources}/${program}.cc" -o "${out}/bin/${program}"
  done
  g++ "${flags[@]}" "${sources}/uv_bench.cc" -o "${out}/bin/uv_bench" -luv
}

build_tokio() {
  local work="${out}/tokio" registry="${TOKIO_REGISTRY:-/usr/share/cargo/registry}"
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
  install "${work}/target/release/"tokio_{bench,echo,hello,stream} "${out}/bin/"
}

build_go() {
  local program
  mkdir -p "${out}/go"
  for program in go_bench go_echo go_hello go_http go_stream; do
    (cd "${sources}/go" &&
      env -u GOTOOLCHAIN GOFLAGS=-mod=mod GOPROXY=off GOWORK=off GOCACHE="${out}/go/cache" \
        go build -trimpath -o "${out}/bin/${program}" "./${program}")
  done
}

# Installs the programs that are scripts.
install_scripts() {
  install "${sources}/http_load.py" "${out}/bin/http_load"
  install "${sources}/nginx_http.sh" "${out}/bin/nginx_http"
}

# Prints a line `NAME VERSION` for each peer and compiler.
versions() {
  local asio
  echo "Tokio $(sed -n '/^name = "tokio"$/{n;s/^version = "\(.*\)"$/\1/p}' "${out}/tokio/Cargo.lock")"
  asio="$(echo '#include <asio/version.hpp>
ASIO_VERSION' | g++ -E -P - | tail -n 1)"
  echo "Asio $((asio / 100000)).$((asio / 100 % 1000)).$((asio % 100))"
  echo "libuv $(echo '#include <uv/version.h>
UV_VERSION_MAJOR.UV_VERSION_MINOR.UV_VERSION_PATCH' | gcc -E -P - | tail -n 1 | tr -d ' ')"
  go version | sed -E 's/^go version go([^ ]+).*/Go \1/'
  # The folder that contains nginx is not on every user's PATH.
  (PATH="${PATH}:/usr/sbin" nginx -v 2>&1 || true) | sed -n 's|^nginx version: nginx/\([^ ]*\).*|nginx \1|p'
  (wrk -v 2>&1 || true) | sed -nE 's|^wrk [^0-9]*([0-9.]+).*|wrk \1|p'
  rustc --version | sed -E 's/^(rustc [^ ]+).*/\1/'
  echo "g++ $(g++ -dumpfullversion)"
}

install_packages
build_native
build_tokio
build_go
install_scripts
versions >"${out}/bin/versions"
echo "The programs are in ${out}/bin, with $(head -n 1 "${out}/bin/versions")."
