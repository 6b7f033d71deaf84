#!/usr/bin/env bash
#
# Runs the system's protoc, with gRPC's plugin for C++ under the name "grpc".

set -euo pipefail

PATH="/usr/local/bin:/usr/bin:/bin:${PATH:-}"
if ! plugin="$(command -v grpc_cpp_plugin)" || ! command -v protoc >/dev/null; then
  echo "protoc or grpc_cpp_plugin is not installed; see docs/guide/grpc.md" >&2
  exit 1
fi
exec protoc --plugin="protoc-gen-grpc=${plugin}" "$@"
