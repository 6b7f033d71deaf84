// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// An HTTPS server on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/https_hello -- --port=8443
//       --certificate=$PWD/chain.pem --key=$PWD/key.pem

#include <atomic>
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
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_stream.h"

ABSL_FLAG(uint16_t, port, 8443, "The port; 0 lets the system choose.");
ABSL_FLAG(std::string, certificate, "",
          "A file: the certificate, and its chain.");
ABSL_FLAG(std::string, key, "", "A file: the private key of the certificate.");
ABSL_FLAG(
    std::string, client_roots, "",
    "A file: the authorities of clients, who must then have certificates.");
ABSL_FLAG(absl::Duration, handshake_timeout, absl::Seconds(10),
          "Most time for a handshake.");
ABSL_FLAG(absl::Duration, idle_timeout, absl::Seconds(30),
          "Most time between two requests of a connection.");
ABSL_FLAG(absl::Duration, request_timeout, absl::Seconds(10),
          "Most time to receive a request, and to send the answer.");
ABSL_FLAG(
    absl::Duration, grace, absl::Seconds(10),
    "Most time for handshakes to end after SIGINT or SIGTERM; answers are "
    "cut off.");

namespace {

using Connection = rouse::TlsStream<rouse::TcpStream>;

std::atomic<uint64_t> total_connections;
std::atomic<uint64_t> total_answers;

// Reads the lines of a request after the first. Returns whether the client
// wants to send further requests.
rouse::Co<absl::StatusOr<bool>> ReadFields(
    rouse::BufReader<Connection&>& reader) {
  bool keep_alive = true;
  for (int lines = 0; lines < 100; ++lines) {
    std::string line;
    co_await rouse::OrReturn(rouse::ReadLine(reader, line, 8192));
    if (line.empty()) break;
    if (absl::EqualsIgnoreCase(line, "connection: close")) keep_alive = false;
  }
  co_return keep_alive;
}

rouse::Co<absl::Status> Send(Connection& connection, std::string answer) {
  co_await rouse::OrReturn(rouse::WriteAll(connection, answer));
  co_return co_await rouse::Flush(connection);
}

// Answers requests until the client asks to close, or is idle for too long. A
// real server uses a parser, as //examples/http_hello does: this one
// understands only GET.
rouse::Co<absl::Status> Answer(Connection& connection) {
  const absl::Duration timeout = absl::GetFlag(FLAGS_request_timeout);
  rouse::BufReader<Connection&> reader(connection);
  for (bool keep_alive = true; keep_alive;) {
    std::string request;
    const absl::StatusOr<bool> begun =
        co_await rouse::Timeout(absl::GetFlag(FLAGS_idle_timeout),
                                rouse::ReadLine(reader, request, 8192));
    // An idle client is no error, except in the middle of the line.
    if (rouse::TimedOut(begun.status()) && request.empty()) break;
    co_await rouse::OrReturn(begun.status());
    if (request.empty()) break;  // the client has closed the connection
    auto fields = rouse::Timeout(timeout, ReadFields(reader));
    keep_alive = co_await rouse::OrReturn(std::move(fields));
    const bool is_known = absl::StartsWith(request, "GET / HTTP/1.");
    const std::string client = connection.peer_subject();
    const std::string body =
        is_known
            ? absl::StrCat("hello", client.empty() ? "" : " ", client, "\n")
            : "";
    keep_alive = keep_alive && is_known;
    std::string answer = absl::StrCat(
        "HTTP/1.1 ", is_known ? "200 OK" : "404 Not Found",
        "\r\nContent-Type: text/plain\r\nContent-Length: ", body.size(),
        "\r\nConnection: ", keep_alive ? "keep-alive" : "close", "\r\n\r\n",
        body);
    auto sent = rouse::Timeout(timeout, Send(connection, std::move(answer)));
    co_await rouse::OrReturn(std::move(sent));
    total_answers.fetch_add(1, std::memory_order_relaxed);
  }
  co_return co_await rouse::Timeout(timeout, rouse::Shutdown(connection));
}

rouse::Co<absl::Status> Serve(rouse::TlsAcceptor acceptor,
                              rouse::TcpStream stream,
                              rouse::CancellationToken stop) {
  co_await rouse::OrReturn(stream.SetNoDelay(true));
  auto handshake = rouse::Timeout(absl::GetFlag(FLAGS_handshake_timeout),
                                  acceptor.Accept(std::move(stream)));
  Connection connection = co_await rouse::OrReturn(std::move(handshake));
  auto answered = stop.RunUntilCancelled(Answer(connection));
  const auto status = co_await std::move(answered);
  co_return status.value_or(absl::OkStatus());
}

// Serves a client, and logs why this failed, if it did.
rouse::Co<> ServeAndLog(rouse::TlsAcceptor acceptor, rouse::TcpStream stream,
                        rouse::CancellationToken stop) {
  total_connections.fetch_add(1, std::memory_order_relaxed);
  rouse::Co<absl::Status> serve =
      Serve(std::move(acceptor), std::move(stream), std::move(stop));
  const absl::Status status = co_await std::move(serve);
  if (!status.ok()) LOG(ERROR) << status;
}

rouse::Co<absl::Status> Accept(rouse::TlsAcceptor acceptor,
                               rouse::TcpListener listener,
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
    connections.Spawn(ServeAndLog(acceptor, std::move(accepted->stream), stop))
        .Detach();
  }
}

absl::StatusOr<rouse::TlsAcceptor> MakeAcceptor() {
  rouse::TlsAcceptor::Builder builder;
  builder
      .CertificateFile(absl::GetFlag(FLAGS_certificate),
                       absl::GetFlag(FLAGS_key))
      .Alpn({"http/1.1"});
  if (const std::string roots = absl::GetFlag(FLAGS_client_roots);
      !roots.empty()) {
    builder.AddRootsFile(roots).RequireClientCertificate();
  }
  return builder.Build();
}

rouse::Co<absl::Status> Main() {
  rouse::TlsAcceptor acceptor = co_await rouse::OrReturn(MakeAcceptor());
  auto listener = co_await rouse::OrReturn(rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port))));
  absl::PrintF("https_hello: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  rouse::TaskTracker connections;
  rouse::CancellationToken stop;
  co_await rouse::OrReturn(
      rouse::Race(Accept(acceptor, std::move(listener), connections, stop),
                  rouse::ShutdownSignal()));
  stop.Cancel();
  connections.Close();
  (void)co_await rouse::Timeout(absl::GetFlag(FLAGS_grace), connections.Wait());
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "https_hello: unexpected argument; see --help\n");
    return 1;
  }
  const int status = rouse::RunMain(Main());
  if (status != 0) return status;
  absl::PrintF("https_hello: answered %d requests on %d connections\n",
               total_answers.load(), total_connections.load());
}
