// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A client sends lines over TCP, one every 10 milliseconds. A server passes the
// lines through a channel to a task that prints them.

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/read_line.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mpsc.h"
#include "rouse/timer/sleep.h"

namespace {

rouse::Co<absl::Status> SendLines(rouse::SocketAddr server) {
  rouse::TcpStream stream =
      co_await rouse::OrReturn(rouse::TcpStream::Connect(server));
  for (int i = 1; i <= 3; ++i) {
    const std::string line = absl::StrCat("line ", i, "\n");
    co_await rouse::OrReturn(stream.WriteAll(line));
    co_await rouse::Sleep(absl::Milliseconds(10));
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> Serve(rouse::TcpListener listener,
                              rouse::mpsc::Sender<std::string> lines) {
  rouse::TcpListener::Accepted accepted =
      co_await rouse::OrReturn(listener.Accept());
  rouse::BufReader reader(std::move(accepted.stream));
  for (;;) {
    std::string line;
    const bool found =
        co_await rouse::OrReturn(rouse::ReadLine(reader, line, 80));
    if (!found) co_return absl::OkStatus();
    co_await rouse::OrReturn(lines.Send(std::move(line)));
  }
}

rouse::Co<absl::Status> Main() {
  rouse::TcpListener listener = co_await rouse::OrReturn(
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
  const rouse::SocketAddr address =
      co_await rouse::OrReturn(listener.local_addr());
  auto [sender, receiver] = rouse::mpsc::Channel<std::string>(1);
  rouse::JoinHandle<absl::Status> server =
      rouse::Spawn(Serve(std::move(listener), std::move(sender)));
  rouse::JoinHandle<absl::Status> client = rouse::Spawn(SendLines(address));
  while (std::optional<std::string> line = co_await receiver.Receive()) {
    printf("%s\n", line->c_str());
  }
  co_await rouse::OrReturn(client);
  co_return co_await server;
}

}  // namespace

int main() {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::MultiThread().Build();
  const absl::Status status =
      runtime.ok() ? runtime->BlockOn(Main()) : runtime.status();
  if (!status.ok()) fprintf(stderr, "lines: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
