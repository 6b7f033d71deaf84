#!/usr/bin/env bash
#
# check_newest.sh: compiles every header of the libraries by itself with the g++ of Debian's testing
# release (see jail.sh), and all headers of a folder together with the release's clang. Both compilers
# are newer than those of the other checks. If a header lacks an include that older standard libraries
# happened to contain, this check is the first to fail. (Both compilers use g++'s standard library.)
# Checks the last commit. Prints warnings, but does not fail because of a warning. Needs root and
# debootstrap.

set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/jail.sh" forky <<'EOF'
set -euo pipefail

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
  clang g++ git python3 >/dev/null 2>&1 || {
  echo "check_newest: apt-get cannot install clang and g++; look for a full disk" >&2
  exit 1
}

# Headers are included as rouse/FOLDER/FILE.h.
git clone --quiet file:///repository include/rouse
archives="$(dirname "$(include/rouse/tools/debian/setup.sh bazelrc)")"
for archive in "${archives}"/*/abseil-cpp-*.tar.gz; do tar -xzf "${archive}"; done
abseil="$(echo "${PWD}"/abseil-cpp-*)"
export abseil

# compile COMPILER NAME: compiles the source on standard input.
compile() {
  "$1" -fsyntax-only -std=c++20 -Wall -Wextra -I include -isystem "${abseil}" -x c++ - || {
    echo "check_newest: $2 does not compile with $1" >&2
    return 1
  }
}
compile_header() { echo "#include \"rouse/$1\"" | compile g++ "$1"; }
compile_folder() { sed 's#.*#\#include "rouse/&"#' "$1" | compile clang++ "headers of $1"; }
export -f compile compile_header compile_folder

# The headers of the libraries, without headers that need GoogleTest or belong to tests, and without
# benchmarks, examples and the packages whose headers need other libraries.
headers="$(cd include/rouse && git ls-files -- '*.h' ':!:*benchmark*' ':!:examples' ':!:tools' \
  ':!:fs/uring' ':!:grpc' ':!:http/h2' ':!:interop/asio' ':!:net/ares' ':!:tls' |
  xargs grep -LE '#include [<"](gtest|gmock|rouse/testing)/')"
mkdir folders
while read -r header; do
  echo "${header}" >>"folders/${header%%/*}"
done <<<"${headers}"

status=0
g++ --version | head -n1
xargs -d '\n' -P "$(nproc)" -n 1 bash -c 'compile_header "$@"' - <<<"${headers}" || status=1
clang++ --version | head -n1
printf '%s\n' folders/* |
  xargs -d '\n' -P "$(nproc)" -n 1 bash -c 'compile_folder "$@"' - || status=1
echo "check_newest: $(wc -l <<<"${headers}") headers"
exit "${status}"
EOF
