#!/usr/bin/env bash
#
# check_module.sh: builds and tests this module, and examples/module, with a Bazel that has bzlmod:
# that of Debian's testing release (see jail.sh). Needs root and debootstrap.
#
# There is no module registry here. What is compiled comes from the archives of archives.txt; what the
# module graph names but nothing compiled here needs is an empty module.

set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/jail.sh" forky <<'EOF'
set -euo pipefail

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
  bazel-bootstrap g++ git >/dev/null 2>&1

git clone --quiet file:///repository rouse
archives="$(dirname "$(rouse/tools/debian/setup.sh bazelrc)")"
mkdir sources stubs
for archive in "${archives}"/*/*.tar.gz; do tar -xzf "${archive}" -C sources; done

# What setup.sh says of --nosandbox_debug holds here too.
flags=(--registry=file:///root/none --lockfile_mode=off --noenable_workspace --nosandbox_debug)
# Its compiler is newer than ours, and knows other warnings.
flags+=(--per_file_copt=.*@-Wno-error)

stub() {
  mkdir "stubs/$1"
  echo "module(name = \"$1\")" >"stubs/$1/MODULE.bazel"
  touch "stubs/$1/BUILD.bazel"
  flags+=("--override_module=$1=${PWD}/stubs/$1")
}

real() { flags+=("--override_module=$1=$(echo "${PWD}/sources/$2"*)"); }

check() {
  (cd "$1" && shift && bazel "$@")
}

# What bazel_tools, Abseil and GoogleTest depend on.
for module in apple_support buildozer protobuf re2 zlib; do stub "${module}"; done
real abseil-cpp abseil-cpp-
real googletest googletest-
check rouse/examples/module test "${flags[@]}" //...

# What only this module's own tests and benchmarks depend on.
for module in libpfm rules_foreign_cc; do stub "${module}"; done
real google_benchmark benchmark-

# Whether this Bazel understands every configuration.
for config in asan tsan ubsan noexcept gcc opt ci; do
  check rouse build --nobuild "--config=${config}" "${flags[@]}" //...
done

check rouse test "${flags[@]}" //...
EOF
