// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Forwards TCP connections to another server, until Ctrl-C:
//
//   tools/bazel run -c opt //examples/tcp_proxy -- --listen=127.0.0.1:8080
//       --target=example.com:80

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:8080",
          "The address to listen on; port 0 lets the system choose.");
ABSL_FLAG(std::string, target, "",
          "The server, such as example.com:80. Required.");
ABSL_FLAG(uint32_t, max_connections, 1000,
          "How many connections are forwarded at once. Others wait.");
ABSL_FLAG(absl::Duration, connect_timeout, absl::Seconds(5),
          "How long to wait for a connection to the target.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "How long connections may continue after SIGINT or SIGTERM.");

namespace {

// Lives in main(), and therefore outlives the runtime and all tasks.
struct Proxy {
  const std::string target = absl::GetFlag(FLAGS_target);
  rouse::Semaphore limit{absl::GetFlag(FLAGS_max_connections)};
  std::atomic<uint64_t> forwarded{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> bytes_to_target{0};
  std::atomic<uint64_t> bytes_to_clients{0};
};

// Lets a connection fail if its peer has vanished without a word. Otherwise the
// connection would count against --max_connections permanently.
void ProbeWhenIdle(const rouse::TcpStream& stream) {
  rouse::KeepAlive keep_alive;
  keep_alive.idle = absl::Minutes(1);
  keep_alive.interval = absl::Seconds(10);
  // Fails only if the connection has ended, which the copy will notice.
  stream.SetKeepAlive(keep_alive).IgnoreError();
}

// Forwards a connection. The permit is returned with the end of the coroutine.
rouse::Co<> Forward(rouse::TcpStream client, Proxy& proxy,
                    [[maybe_unused]] rouse::Semaphore::Permit permit) {
  absl::StatusOr<rouse::TcpStream> server = co_await rouse::Timeout(
      absl::GetFlag(FLAGS_connect_timeout), rouse::ConnectTcp(proxy.target));
  if (rouse::TimedOut(server.status())) {
    server = absl::DeadlineExceededError("no answer within --connect_timeout");
  }
  if (!server.ok()) {
    ++proxy.failed;
    LOG_EVERY_N_SEC(ERROR, 1) << "cannot connect to --target=" << proxy.target
                              << ": " << server.status();
    // The client gets a reset. A plain end would look like an empty answer.
    client.SetLinger(absl::ZeroDuration()).IgnoreError();
    co_return;
  }
  ++proxy.forwarded;
  ProbeWhenIdle(client);
  ProbeWhenIdle(*server);
  auto copy = rouse::CopyBidirectional(client, *server);
  // Counts even if the copy fails, or the runtime cancels this coroutine.
  const absl::Cleanup count = [&] {
    proxy.bytes_to_target += copy.copied().a_to_b;
    proxy.bytes_to_clients += copy.copied().b_to_a;
  };
  (void)co_await copy;
}

// Accepts a connection whenever a permit is free.
rouse::Co<absl::Status> Accept(rouse::TcpListener listener, Proxy& proxy,
                               rouse::TaskTracker& connections) {
  for (;;) {
    auto permit = co_await rouse::OrReturn(proxy.limit.Acquire());
    auto accepted = co_await listener.Accept();
    if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Connections that end will free some.
      LOG_EVERY_N_SEC(ERROR, 1)
          << "lower --max_connections: " << accepted.status();
      co_await rouse::Sleep(absl::Milliseconds(50));
      continue;
    }
    co_await rouse::OrReturn(accepted.status());
    connections
        .Spawn(Forward(std::move(accepted->stream), proxy, std::move(permit)))
        .Detach();
  }
}

rouse::Co<absl::Status> Main(Proxy& proxy) {
  if (proxy.target.empty() || proxy.limit.available_permits() == 0) {
    co_return absl::InvalidArgumentError(
        "--target must be given, and --max_connections must not be 0");
  }
  // Each connection looks the name up again. This lookup finds a wrong name.
  co_await rouse::OrReturn(rouse::LookupHost(proxy.target));
  auto listener =
      co_await rouse::OrReturn(rouse::ListenTcp(absl::GetFlag(FLAGS_listen)));
  absl::PrintF("tcp_proxy: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  rouse::TaskTracker connections;
  co_await rouse::OrReturn(
      rouse::Race(Accept(std::move(listener), proxy, connections),
                  rouse::ShutdownSignal()));
  connections.Close();
  (void)co_await rouse::Timeout(absl::GetFlag(FLAGS_grace), connections.Wait());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "tcp_proxy: unexpected argument; see --help\n");
    return 1;
  }
  Proxy proxy;
  const int status = rouse::RunMain(Main(proxy));
  if (status != 0) return status;
  absl::PrintF(
      "tcp_proxy: forwarded %d connections, %d failed; %d bytes to the target, "
      "%d bytes to clients\n",
      proxy.forwarded.load(), proxy.failed.load(), proxy.bytes_to_target.load(),
      proxy.bytes_to_clients.load());
}
