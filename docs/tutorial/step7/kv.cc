// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "connection.h"
#include "rouse/rouse.h"
#include "store.h"

rouse::Co<> Run(rouse::TcpStream stream, Store store) {
  absl::Status end = co_await Serve(std::move(stream), store);
  if (!end.ok()) fprintf(stderr, "kv: %s\n", end.ToString().c_str());
}

rouse::Co<absl::Status> Accept(rouse::TcpListener listener) {
  Store store = StartStore();
  for (;;) {
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    rouse::Spawn(Run(std::move(accepted.stream), store)).Detach();
  }
}

rouse::Co<absl::Status> Main(uint16_t port) {
  rouse::TcpListener listener = co_await rouse::OrReturn(
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(port)));
  printf("listening on %s\n", listener.local_addr()->ToString().c_str());
  fflush(stdout);
  co_return co_await Accept(std::move(listener));
}

int main(int argc, char** argv) {
  uint32_t port = 6380;
  if (argc > 1 && (!absl::SimpleAtoi(argv[1], &port) || port > UINT16_MAX)) {
    fprintf(stderr, "kv: %s is not a port\n", argv[1]);
    return 1;
  }
  return rouse::RunMain(Main(port));
}
