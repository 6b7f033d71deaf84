#!/usr/bin/env bash
#
# check_module.sh: builds and tests this module and examples/consumer_module with a Bazel that has bzlmod: the
# Bazel of Debian's testing release (see jail.sh). Needs root and debootstrap.
#
# The check uses no module registry. Modules that are compiled come from the archives of archives.txt.
# Other modules of the module graph are replaced by empty modules.

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

# The flags of every command, and of a build.
flags=(--registry=file:///root/none --lockfile_mode=off --noenable_workspace)
# --nosandbox_debug has the same reason as in setup.sh. The release's compiler is newer than the default
# compiler, and has other warnings.
build=(--nosandbox_debug --per_file_copt=.*@-Wno-error)

# stub MODULE: replaces a module by an empty one.
stub() {
  mkdir "stubs/$1"
  echo "module(name = \"$1\")" >"stubs/$1/MODULE.bazel"
  touch "stubs/$1/BUILD.bazel"
  flags+=("--override_module=$1=${PWD}/stubs/$1")
}

# real MODULE PREFIX: takes a module from the archive whose folder begins with PREFIX.
real() { flags+=("--override_module=$1=$(echo "${PWD}/sources/$2"*)"); }

# check FOLDER ARGUMENT...: runs Bazel in a folder.
check() {
  (cd "$1" && shift && bazel "$@")
}

# The dependencies of bazel_tools, Abseil and GoogleTest.
for module in apple_support buildozer protobuf re2 zlib; do stub "${module}"; done
real abseil-cpp abseil-cpp-
real googletest googletest-
check rouse/examples/consumer_module test "${build[@]}" "${flags[@]}" //...
# The jail has no foreign library. The check also queries what the test does not compile.
(cd rouse/examples/consumer_module && ../../tools/check_foreign bazel query "${flags[@]}")

# The dependencies of this module's own tests and benchmarks.
for module in libpfm rules_foreign_cc; do stub "${module}"; done
real google_benchmark benchmark-

# Checks that this Bazel understands every configuration.
for config in asan tsan ubsan noexcept gcc opt ci; do
  check rouse build --nobuild "--config=${config}" "${build[@]}" "${flags[@]}" //...
done

check rouse test "${build[@]}" "${flags[@]}" //...
EOF
