// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/1.1 server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/http_hello -- --port=8080

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "examples/http_hello/http_reader.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 8080, "The port; 0 lets the system choose.");
ABSL_FLAG(uint32_t, max_header, 16384, "Most bytes of a request's header.");
ABSL_FLAG(uint64_t, max_body, 1 << 20, "Most bytes of a request's body.");
ABSL_FLAG(absl::Duration, request_timeout, absl::Seconds(10),
          "Most time to receive a request, and to send the answer.");
ABSL_FLAG(absl::Duration, idle_timeout, absl::Minutes(1),
          "Most time between two requests of a connection.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "Most time for the last answers after SIGINT or SIGTERM.");

namespace {

std::atomic<uint64_t> total_connections;
std::atomic<uint64_t> total_answers;

// Returns the HTTP status, and sets the body of the answer.
int Answer(HttpRequest& request, std::string& body) {
  if (request.url != "/") return 404;
  if (request.method == HTTP_POST) {
    body = std::move(request.body);
  } else if (request.method == HTTP_GET || request.method == HTTP_HEAD) {
    body = "hello\n";
  } else {
    return 501;
  }
  return 200;
}

// Reads what the client still sends. If the connection were closed first, the
// client would get a reset, and could lose the answer.
rouse::Co<> Drain(const rouse::TcpStream& stream) {
  stream.ShutdownWrite().IgnoreError();
  char buffer[4096];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) co_return;
  }
}

rouse::Co<> Serve(rouse::TcpStream stream, rouse::CancellationToken stop) {
  const absl::Duration timeout = absl::GetFlag(FLAGS_request_timeout);
  stream.SetNoDelay(true).IgnoreError();
  HttpReader reader(stream, absl::GetFlag(FLAGS_max_body));
  for (bool keep_alive = true; keep_alive;) {
    // A signal ends a connection between requests, but not within a request.
    const auto begun = co_await stop.RunUntilCancelled(
        rouse::Timeout(absl::GetFlag(FLAGS_idle_timeout), reader.Begin()));
    if (!begun.has_value() || !begun->value_or(false)) co_return;
    absl::StatusOr<int> code = co_await rouse::Timeout(timeout, reader.Read());
    if (rouse::TimedOut(code.status())) code = 408;
    if (!code.ok()) co_return;
    HttpRequest& request = reader.request();
    keep_alive = *code == 200 && request.keep_alive && !stop.IsCancelled();
    std::string body;
    if (*code == 200) code = Answer(request, body);
    const std::string answer = absl::StrCat(
        "HTTP/1.1 ", *code, " ",
        http_status_str(static_cast<http_status>(*code)),
        "\r\nContent-Type: text/plain\r\nContent-Length: ", body.size(),
        "\r\nConnection: ", keep_alive ? "keep-alive" : "close", "\r\n\r\n",
        request.method == HTTP_HEAD ? "" : body);
    absl::Status sent =
        co_await rouse::Timeout(timeout, stream.WriteAll(answer));
    if (!sent.ok()) co_return;
    // Relaxed: a statistic. `main()` reads it after the runtime has ended.
    total_answers.fetch_add(1, std::memory_order_relaxed);
  }
  (void)co_await rouse::Timeout(timeout, Drain(stream));
}

rouse::Co<absl::Status> Accept(rouse::TcpListener listener,
                               rouse::TaskTracker& connections,
                               rouse::CancellationToken stop) {
  for (;;) {
    auto accepted = co_await listener.Accept();
    if (absl::IsResourceExhausted(accepted.status())) {
      // No descriptor is free. Connections that end will free some.
      LOG_EVERY_N_SEC(ERROR, 1) << "cannot accept: " << accepted.status();
      co_await rouse::Sleep(absl::Milliseconds(50));
      continue;
    }
    co_await rouse::OrReturn(accepted.status());
    // Relaxed, as `total_answers`.
    total_connections.fetch_add(1, std::memory_order_relaxed);
    connections.Spawn(Serve(std::move(accepted->stream), stop)).Detach();
  }
}

rouse::Co<absl::Status> Main() {
  auto listener = co_await rouse::OrReturn(rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port))));
  absl::PrintF("http_hello: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  rouse::TaskTracker connections;
  rouse::CancellationToken stop;
  co_await rouse::OrReturn(rouse::Race(
      Accept(std::move(listener), connections, stop), rouse::ShutdownSignal()));
  stop.Cancel();
  connections.Close();
  (void)co_await rouse::Timeout(absl::GetFlag(FLAGS_grace), connections.Wait());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "http_hello: unexpected argument; see --help\n");
    return 1;
  }
  http_parser_set_max_header_size(absl::GetFlag(FLAGS_max_header));
  const int status = rouse::RunMain(Main());
  if (status != 0) return status;
  absl::PrintF("http_hello: answered %d requests on %d connections\n",
               total_answers.load(), total_connections.load());
}
