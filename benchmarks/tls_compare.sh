#!/usr/bin/env bash
#
# tls_compare.sh [ROUNDS]: compares rouse_tls with peers/asio_tls, in turn, and prints the median of each figure.
# Needs g++ and Debian's libssl-dev and libasio-dev. Nothing else may run on the machine.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly rounds="${1:-7}"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

tools/bazel build -c opt //benchmarks:rouse_tls
g++ -O3 -DNDEBUG -Wall -std=c++20 -pthread benchmarks/peers/asio_tls.cc -o "${work}/asio_tls" -lssl -lcrypto
cp bazel-bin/benchmarks/rouse_tls "${work}/"
export TLS_CHAIN="${work}/chain.pem" TLS_KEY="${work}/key.pem"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout "${TLS_KEY}" -out "${TLS_CHAIN}" 2>/dev/null

for ((round = 0; round < rounds; ++round)); do
  for workload in tls_stream_16k tls_stream_64k tls_echo tcp_echo tls_full tls_resumed tls_idle; do
    for program in rouse_tls asio_tls; do
      echo "${program} $(taskset -c 1 "${work}/${program}" "${workload}")" >>"${work}/figures"
    done
  done
done

python3 - "${work}/figures" <<'END'
import collections, statistics, sys

figures = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[1]):
    program, name, value, unit = line.split()
    figures[name, unit][program].append(float(value))
for (name, unit), programs in figures.items():
    rouse, asio = (statistics.median(programs[program]) for program in ("rouse_tls", "asio_tls"))
    print(f"{name:28} rouse {rouse:10.0f}  asio {asio:10.0f} {unit:8} asio/rouse {asio / rouse:.2f}")
END
