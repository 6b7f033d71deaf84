# What a rouse_cc_nc_test is made of; see rouse_nc_test.bzl. A verdict is a compiler's output with its
# exit status as the last line.
# shellcheck shell=bash

set -u
failures=0

fail() {
  local case="$1" verdict="$2" reason="$3"
  echo "FAILED   ${case}: ${reason}; the compiler said:"
  cat "${verdict}"
  failures=$((failures + 1))
}

compiled() { [[ "$(tail -n1 "$1")" == "status 0" ]]; }

must_compile() {
  if compiled "$1"; then echo "PASSED   control"; else fail control "$1" "does not compile"; fi
}

must_fail() {
  local case="$1" verdict="$2" expect="$3"
  if compiled "${verdict}"; then
    fail "${case}" "${verdict}" "compiles"
  elif grep -Eq -- "${expect}" "${verdict}"; then
    echo "PASSED   ${case}"
  else
    fail "${case}" "${verdict}" "no diagnostic matches '${expect}'"
  fi
}

# As must_fail; the first lines are all that a user reads.
must_tell_user() {
  local case="$1" verdict="$2" expect="$3" source="$4" first
  first="$(grep -vE '^(In file included| +from) ' "${verdict}" | head -n12)"
  if compiled "${verdict}"; then
    fail "${case}" "${verdict}" "compiles"
  elif ! grep -Eq -- "${expect}" <<<"${first}"; then
    fail "${case}" "${verdict}" "the first lines do not match '${expect}'"
  elif ! grep -Eq -- "(^|/)${source}:[0-9]+" <<<"${first}"; then
    fail "${case}" "${verdict}" "the first lines do not name a line of ${source}"
  else
    echo "PASSED   ${case}"
  fi
}

not_applicable() { echo "NOT RUN  $1: only clang diagnoses it"; }

finish() { ((failures == 0)) || exit 1; }
