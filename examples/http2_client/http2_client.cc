// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fetches URLs at once, with HTTP/2 if the server speaks it:
//
//   tools/bazel run -c opt //examples/http2_client -- https://example.com/
//   tools/bazel run -c opt //examples/http2_client --
//       --prior_knowledge --repeat=100 http://127.0.0.1:8080/
//
// Prints the status and the number of bytes of each response.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/url.h"
#include "rouse/rouse.h"
#include "rouse/tls/connect_tls.h"
#include "rouse/tls/tls_connector.h"

ABSL_FLAG(bool, prior_knowledge, false,
          "Speak HTTP/2 with servers in clear text, too.");
ABSL_FLAG(std::string, roots, "",
          "A file: the certificates of authorities to trust besides those of "
          "the system.");
ABSL_FLAG(int, repeat, 1, "Number of requests for each URL.");
ABSL_FLAG(uint64_t, upload, 0,
          "Send POST requests with a body of this many bytes.");

namespace http = rouse::http;

namespace {

std::atomic<int> connections;

// Connects in clear text or by TLS, and offers HTTP/2 by ALPN.
rouse::Co<absl::StatusOr<http::ByteStream>> Connect(
    std::optional<rouse::TlsConnector> connector, http::Origin origin) {
  // Relaxed: a statistic. `Main()` reads it after all responses.
  connections.fetch_add(1, std::memory_order_relaxed);
  if (origin.scheme == "http") {
    co_return co_await http::ConnectPlain(std::move(origin));
  }
  auto stream = co_await rouse::OrReturn(
      rouse::ConnectTls(*std::move(connector), origin.host_port()));
  co_return http::ByteStream(std::move(stream));
}

rouse::Gen<std::string> Digits(uint64_t size) {
  while (size > 0) {
    std::string part(size < 16384 ? size : 16384, '7');
    size -= part.size();
    co_yield std::move(part);
  }
}

// Sends a request, and reads the response with a buffer of 64 KiB. Returns a
// line for the user.
rouse::Co<absl::StatusOr<std::string>> Fetch(http::Client client,
                                             std::string url) {
  const uint64_t upload = absl::GetFlag(FLAGS_upload);
  http::Request request = co_await rouse::OrReturn(
      http::Request::To(upload > 0 ? "POST" : "GET", url));
  if (upload > 0) request.body = http::Body::FromStream(Digits(upload));
  http::Response response =
      co_await rouse::OrReturn(client.Send(std::move(request)));
  std::string buffer(size_t{64} << 10, '\0');
  uint64_t size = 0;
  for (;;) {
    const size_t part = co_await rouse::OrReturn(
        rouse::Read(response.body, absl::MakeSpan(buffer)));
    if (part == 0) break;
    size += part;
  }
  co_return absl::StrFormat("%d %d %s", response.status, size, url);
}

rouse::Co<absl::Status> Main(std::vector<std::string> urls) {
  std::optional<rouse::TlsConnector> connector;
  const std::string roots = absl::GetFlag(FLAGS_roots);
  for (const std::string& url : urls) {
    if (!url.starts_with("https:") || connector.has_value()) continue;
    rouse::TlsConnector::Builder builder;
    builder.Alpn({"h2", "http/1.1"});
    if (!roots.empty()) builder.AddRootsFile(roots);
    connector = co_await rouse::OrReturn(builder.Build());
  }
  http::ClientOptions options;
  http::h2::ClientLimits limits;
  limits.prior_knowledge = absl::GetFlag(FLAGS_prior_knowledge);
  options.http2 = http::h2::ClientProtocol(limits);
  options.connect = [connector](http::Origin origin) {
    return Connect(connector, std::move(origin));
  };
  const http::Client client(std::move(options));
  std::vector<rouse::JoinHandle<absl::StatusOr<std::string>>> all;
  for (const std::string& url : urls) {
    for (int i = 0; i < absl::GetFlag(FLAGS_repeat); ++i) {
      all.push_back(rouse::Spawn(Fetch(client, url)));
    }
  }
  absl::Status first_error;
  for (auto& each : all) {
    const absl::StatusOr<std::string> line = co_await each;
    if (line.ok()) {
      absl::PrintF("%s\n", *line);
    } else if (first_error.ok()) {
      first_error = line.status();
    }
  }
  absl::PrintF("http2_client: %d requests on %d connections\n", all.size(),
               connections.load(std::memory_order_relaxed));
  co_return first_error;
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  std::vector<std::string> urls(arguments.begin() + 1, arguments.end());
  if (urls.empty()) {
    absl::FPrintF(stderr, "http2_client: no URL is given; see --help\n");
    return 1;
  }
  return rouse::RunMain(Main(std::move(urls)));
}
