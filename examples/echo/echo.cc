// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TCP echo server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/echo -- --port=7777 --idle_timeout=30s

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 7777,
          "The port to listen on; 0 lets the system choose.");
ABSL_FLAG(absl::Duration, idle_timeout, absl::Minutes(5),
          "How long a connection may be idle before it is closed; 0 means "
          "forever.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "How long connections may continue after SIGINT or SIGTERM.");

namespace {

// Global, because connections that outlast the grace end with the runtime,
// after Main() has returned.
std::atomic<uint64_t> total_connections;
std::atomic<uint64_t> total_bytes;

// Writes all bytes back until the client ends the connection, an error occurs,
// or the connection is idle for too long.
rouse::Co<> Echo(rouse::TcpStream stream, absl::Duration idle_timeout) {
  char buffer[4096];
  for (;;) {
    absl::StatusOr<size_t> size = co_await rouse::Timeout(
        idle_timeout, stream.Read(absl::MakeSpan(buffer)));
    if (!size.ok() || *size == 0) co_return;
    std::string_view data(buffer, *size);
    while (!data.empty()) {
      absl::StatusOr<size_t> written =
          co_await rouse::Timeout(idle_timeout, stream.Write(data));
      if (!written.ok()) co_return;
      total_bytes.fetch_add(*written, std::memory_order_relaxed);
      data.remove_prefix(*written);
    }
  }
}

// Accepts connections, and serves each connection in a task of its own.
rouse::Co<absl::Status> Accept(rouse::TcpListener listener,
                               rouse::TaskTracker& connections) {
  absl::Duration idle_timeout = absl::GetFlag(FLAGS_idle_timeout);
  if (idle_timeout == absl::ZeroDuration()) {
    idle_timeout = absl::InfiniteDuration();
  }
  for (;;) {
    absl::StatusOr<rouse::TcpListener::Accepted> accepted =
        co_await listener.Accept();
    if (accepted.ok()) {
      total_connections.fetch_add(1, std::memory_order_relaxed);
      connections.Spawn(Echo(std::move(accepted->stream), idle_timeout))
          .Detach();
    } else if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Connections that end will free some.
      LOG_EVERY_N_SEC(ERROR, 1)
          << "cannot accept connections; the server tries again: "
          << accepted.status();
      co_await rouse::Sleep(absl::Milliseconds(50));
    } else {
      co_return accepted.status();
    }
  }
}

rouse::Co<absl::Status> Main() {
  const absl::Duration grace = absl::GetFlag(FLAGS_grace);
  if (absl::GetFlag(FLAGS_idle_timeout) < absl::ZeroDuration() ||
      grace < absl::ZeroDuration()) {
    co_return absl::InvalidArgumentError(
        "--idle_timeout and --grace must not be negative");
  }
  absl::StatusOr<rouse::TcpListener> listener = rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port)));
  if (!listener.ok()) {
    co_return absl::Status(
        listener.status().code(),
        absl::StrCat(listener.status().message(), "; choose another --port"));
  }
  printf("echo: listening on %s\n", listener->local_addr()->ToString().c_str());
  fflush(stdout);

  rouse::TaskTracker connections;
  // The signal cancels Accept(), which closes the listener.
  co_await rouse::OrReturn(rouse::Race(
      Accept(*std::move(listener), connections), rouse::ShutdownSignal()));
  connections.Close();
  (void)co_await rouse::Timeout(absl::GetFlag(FLAGS_grace), connections.Wait());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A TCP echo server on 127.0.0.1.");
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    fprintf(stderr,
            "echo: unexpected argument; all options are flags, see --help\n");
    return 1;
  }
  int status = rouse::RunMain(Main());
  if (status == 0) {
    printf("echo: served %llu connections, echoed %llu bytes\n",
           static_cast<unsigned long long>(total_connections.load()),
           static_cast<unsigned long long>(total_bytes.load()));
  }
  return status;
}
