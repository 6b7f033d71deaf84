// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/benchmarks/server.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"

namespace rouse::bench {
namespace {

Co<absl::Status> Serve(uint16_t port, Co<> (*connection)(TcpStream stream)) {
  const TcpListener listener =
      co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(port)));
  for (;;) {
    TcpListener::Accepted accepted = co_await OrReturn(listener.Accept());
    co_await OrReturn(accepted.stream.SetNoDelay(true));
    Spawn(connection(std::move(accepted.stream)));
  }
}

int Usage(const char* program) {
  fprintf(stderr, "usage: %s PORT [ct | mt WORKERS]\n", program);
  return 2;
}

}  // namespace

int RunServer(int argc, char** argv, Co<> (*connection)(TcpStream stream)) {
  uint32_t port = 0;
  if (argc < 2 || !absl::SimpleAtoi(argv[1], &port) || port > 65535) {
    return Usage(argv[0]);
  }
  const std::string_view kind = argc > 2 ? argv[2] : "ct";
  size_t workers = 1;
  if ((kind != "ct" && kind != "mt") ||
      (argc > 3 && !absl::SimpleAtoi(argv[3], &workers))) {
    return Usage(argv[0]);
  }
  absl::StatusOr<Runtime> runtime =
      kind == "ct" ? Builder::CurrentThread().Build()
                   : Builder::MultiThread().WorkerThreads(workers).Build();
  absl::Status status = runtime.status();
  if (runtime.ok()) {
    Co<absl::Status> serve = Serve(static_cast<uint16_t>(port), connection);
    status = kind == "ct" ? runtime->BlockOn(std::move(serve))
                          : runtime->BlockOn(runtime->Spawn(std::move(serve)));
  }
  fprintf(stderr, "%s: %s\n", argv[0], status.ToString().c_str());
  return 1;
}

}  // namespace rouse::bench
