#!/usr/bin/env bash
#
# packaging/check.sh: replaces the placeholders of the recipes, and parses the recipes. Runs the port of vcpkg
# with functions that only print their arguments in the place of vcpkg's functions.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

for template in */*.in; do
  sed 's#@ROUSE_URL@#file:///rouse.tar.gz#; s#@ROUSE_\(VERSION\|SHA[0-9]*\)@#0#' "${template}" \
    >"${work}/$(basename "${template}" .in)"
done
cd "${work}"
if grep '@ROUSE_' ./*; then
  echo "packaging/check.sh: packaging/README.md does not list the placeholder in the line above" >&2
  exit 1
fi

python3 -m json.tool vcpkg.json
python3 -m py_compile conanfile.py

sed -nE 's/^(vcpkg_[a-z_]+)\(.*/\1/p' portfile.cmake | sort -u | while read -r name; do
  # shellcheck disable=SC2016  # CMake expands ${ARGN}.
  printf 'function(%s)\n  message(STATUS "%s ${ARGN}")\nendfunction()\n' "${name}" "${name}"
done >port.cmake
cat portfile.cmake >>port.cmake
cmake -DCURRENT_PACKAGES_DIR="${work}/packages" -DVERSION=0 -P port.cmake
