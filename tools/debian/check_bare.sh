#!/usr/bin/env bash
#
# check_bare.sh: clones this repository on a bare Debian 12 machine (see jail.sh), runs the README's
# two commands there, and prints the time of each. Needs root and debootstrap.

set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/jail.sh" bookworm <<'EOF'
set -euo pipefail

# Prints the seconds since `started`.
since() { echo "check_bare: $1: $((SECONDS - started)) s"; }

# Sends one line to the echo server, and prints the first line of the answer.
echoed() {
  exec 3<>/dev/tcp/127.0.0.1/7777
  echo "$1" >&3
  head -n1 <&3
  exec 3>&-
}

apt-get update -qq
apt-get install -qq -y --no-install-recommends git >/dev/null
git clone --quiet file:///repository rouse
cd rouse

started="${SECONDS}"
tools/bazel run -c opt //examples/echo &
server=$!
until (exec 3<>/dev/tcp/127.0.0.1/7777) 2>/dev/null; do
  kill -0 "${server}" # Ends the check if the server has ended.
  sleep 1
done
since "tools/bazel run -c opt //examples/echo, until it listens"
[[ "$(echoed "bare")" == bare ]]
# SIGTERM, because background jobs of a shell ignore SIGINT.
kill -TERM "${server}"
wait "${server}"

started="${SECONDS}"
tools/bazel test //...
since "tools/bazel test //..."
EOF
