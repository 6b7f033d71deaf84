# The functions that the script of a rouse_cc_nc_test calls; see rouse_nc_test.bzl. A verdict is a
# file with the compiler's output and, as the last line, the compiler's exit status.
# shellcheck shell=bash

set -u
failures=0

fail() {
  local case="$1" verdict="$2" reason="$3"
  echo "FAILED   ${case}: ${reason}; the compiler said:"
  cat "${verdict}"
  failures=$((failures + 1))
}

# compiled VERDICT: succeeds if the compiler did.
compiled() { [[ "$(tail -n1 "$1")" == "status 0" ]]; }

# must_compile VERDICT
must_compile() {
  if compiled "$1"; then
    echo "PASSED   control"
  else
    fail control "$1" "must compile, but does not"
  fi
}

# must_fail CASE VERDICT EXPECT: the case must not compile, and a line must match EXPECT.
must_fail() {
  local case="$1" verdict="$2" expect="$3"
  if compiled "${verdict}"; then
    fail "${case}" "${verdict}" "must not compile, but does"
  elif grep -Eq -- "${expect}" "${verdict}"; then
    echo "PASSED   ${case}"
  else
    fail "${case}" "${verdict}" "no diagnostic matches '${expect}'"
  fi
}

# must_tell_user CASE VERDICT EXPECT SOURCE: like must_fail, but the first lines must match EXPECT and
# name a line of SOURCE, because a user reads only these.
must_tell_user() {
  local case="$1" verdict="$2" expect="$3" source="$4" first
  first="$(grep -vE '^(In file included| +from) ' "${verdict}" | head -n12)"
  if compiled "${verdict}"; then
    fail "${case}" "${verdict}" "must not compile, but does"
  elif ! grep -Eq -- "${expect}" <<<"${first}"; then
    fail "${case}" "${verdict}" "the first lines do not match '${expect}'"
  elif ! grep -Eq -- "(^|/)${source}:[0-9]+" <<<"${first}"; then
    fail "${case}" "${verdict}" "the first lines do not name a line of ${source}"
  else
    echo "PASSED   ${case}"
  fi
}

not_applicable() { echo "NOT RUN  $1: only clang diagnoses this error"; }

finish() { ((failures == 0)) || exit 1; }
