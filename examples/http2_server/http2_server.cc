// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A server of HTTP/1.1 and HTTP/2 on 127.0.0.1, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/http2_server -- --port=8080
//   curl --http2-prior-knowledge http://127.0.0.1:8080/
//
// With --certificate and --key, the server speaks TLS, and the client chooses
// the version by ALPN.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/rouse.h"
#include "rouse/tls/tls_acceptor.h"

ABSL_FLAG(uint16_t, port, 8080, "The port; 0 lets the system choose.");
ABSL_FLAG(std::string, certificate, "",
          "A file: the certificate, and its chain. Without this flag, the "
          "server speaks clear text.");
ABSL_FLAG(std::string, key, "", "A file: the private key of the certificate.");
ABSL_FLAG(uint64_t, max_body, uint64_t{1} << 30, "Most bytes of a body.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "Most time for the last responses after SIGINT or SIGTERM.");

namespace http = rouse::http;

namespace {

using Answer = rouse::Co<absl::StatusOr<http::Response>>;

std::atomic<uint64_t> total_requests;

// Counts the bytes of an upload of any size, with a buffer of 64 KiB.
Answer Upload(http::Request request) {
  std::string buffer(size_t{64} << 10, '\0');
  uint64_t size = 0;
  for (;;) {
    const size_t part = co_await rouse::OrReturn(
        rouse::Read(request.body, absl::MakeSpan(buffer)));
    if (part == 0) break;
    size += part;
  }
  co_return http::Response::Text(absl::StrCat(size, " bytes\n"));
}

// Yields `size` bytes, as fast as the client takes them.
rouse::Gen<std::string> Digits(uint64_t size) {
  while (size > 0) {
    std::string part(std::min<uint64_t>(size, 16384), '7');
    size -= part.size();
    co_yield std::move(part);
  }
}

http::Response Download(const http::Request& request) {
  uint64_t size = 0;
  std::string_view number = request.query();
  if (!absl::ConsumePrefix(&number, "bytes=") ||
      !absl::SimpleAtoi(number, &size)) {
    return http::Response::Text("use /download?bytes=N\n", 400);
  }
  http::Response response;
  response.body = http::Body::FromStream(Digits(size));
  return response;
}

// Answers after a while. Other requests of the connection need not wait.
Answer Slow(http::Request request) {
  absl::Duration time;
  if (!absl::ParseDuration(request.query(), &time)) {
    co_return http::Response::Text("use /slow?250ms\n", 400);
  }
  co_await rouse::Sleep(time);
  co_return http::Response::Text("done\n");
}

Answer Handle(http::Request request) {
  // Relaxed: a statistic. `main()` reads it after the runtime has ended.
  total_requests.fetch_add(1, std::memory_order_relaxed);
  const std::string_view path = request.path();
  if (path == "/") co_return http::Response::Text("hello\n");
  if (path == "/upload") co_return co_await Upload(std::move(request));
  if (path == "/download") co_return Download(request);
  if (path == "/slow") co_return co_await Slow(std::move(request));
  if (path == "/echo") {
    // The request's body becomes the response's, while it arrives.
    http::Response response;
    response.body = std::move(request.body);
    co_return response;
  }
  if (path == "/fail") co_return absl::DataLossError("the disk is broken");
  co_return http::Response::Text("no such page\n", 404);
}

rouse::Co<absl::Status> Serve(rouse::TcpListener listener,
                              http::ServerOptions options) {
  const std::string certificate = absl::GetFlag(FLAGS_certificate);
  if (certificate.empty()) {
    co_return co_await http::Serve(std::move(listener), &Handle,
                                   std::move(options));
  }
  rouse::TlsAcceptor::Builder builder;
  builder.CertificateFile(certificate, absl::GetFlag(FLAGS_key))
      .Alpn({"h2", "http/1.1"});
  rouse::TlsAcceptor acceptor = co_await rouse::OrReturn(builder.Build());
  const auto secure = [acceptor](rouse::TcpStream stream) mutable {
    return acceptor.Accept(std::move(stream));
  };
  co_return co_await http::ServeSecured(std::move(listener), secure, &Handle,
                                        std::move(options));
}

rouse::Co<absl::Status> Main() {
  auto listener = co_await rouse::OrReturn(rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port))));
  absl::PrintF("http2_server: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  http::ServerOptions options;
  options.http2 = http::h2::Protocol();
  options.max_body_bytes = absl::GetFlag(FLAGS_max_body);
  options.drain_timeout = absl::GetFlag(FLAGS_grace);
  const rouse::CancellationToken stop = options.stop;
  auto serving = Serve(std::move(listener), std::move(options));
  auto first = co_await rouse::Select(serving, rouse::ShutdownSignal());
  if (first.index() == 0) co_return std::get<0>(first);
  co_await rouse::OrReturn(std::get<1>(first));
  // Finishes the requests under way.
  stop.Cancel();
  co_return co_await serving;
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "http2_server: unexpected argument; see --help\n");
    return 1;
  }
  const int status = rouse::RunMain(Main());
  if (status != 0) return status;
  absl::PrintF("http2_server: answered %d requests\n", total_requests.load());
}
