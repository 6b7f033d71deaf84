// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// rouse_echo PORT [ct | mt WORKERS]: serves echoes on 127.0.0.1 until the
// process is killed. Like the peers' servers, has a task and a buffer of 1 KiB
// for each connection.

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/benchmarks/server.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace {

rouse::Co<> Echo(rouse::TcpStream stream) {
  char buffer[1024];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) co_return;
    const absl::Status written =
        co_await stream.WriteAll(std::string_view(buffer, *size));
    if (!written.ok()) co_return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::bench::RunServer(argc, argv, &Echo);
}
