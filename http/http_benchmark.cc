// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures a request and its response, with both sides on one thread, and the
// parts of it that do not wait:
//
//   tools/bazel run -c opt //http:http_benchmark

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/check.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::http {
namespace {

constexpr std::string_view kShort =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
// What a browser sends.
constexpr std::string_view kLong =
    "GET /notes/7?page=2 HTTP/1.1\r\n"
    "Host: www.example.com\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 "
    "Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    "\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "\r\n";

void BM_ParseRequestHead(benchmark::State& state) {
  const std::string_view head = state.range(0) == 0 ? kShort : kLong;
  for (auto _ : state) {
    Request request;
    internal::HeadInfo info;
    CHECK(internal::ParseRequestHead(head, 100, request, info).ok());
    benchmark::DoNotOptimize(request);
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(head.size()));
}
BENCHMARK(BM_ParseRequestHead)->Arg(0)->Arg(1);

void BM_AppendResponseHead(benchmark::State& state) {
  const Response response = Response::Text("hello\n");
  internal::Buffer out;
  for (auto _ : state) {
    internal::ResponseContext context;
    internal::AppendResponseHead(out, response, context);
    benchmark::DoNotOptimize(out.view());
    out.Clear();
  }
}
BENCHMARK(BM_AppendResponseHead);

Co<Response> Hello(Request) { co_return Response::Text("hello\n"); }

// Sends a request, and reads the response.
Co<absl::Status> Ask(const Client& client, const std::string& url) {
  Response response = co_await OrReturn(client.Get(url));
  const std::string body = co_await OrReturn(response.body.ReadAll(100));
  CHECK_EQ(body, "hello\n");
  co_return absl::OkStatus();
}

void AskRepeatedly(benchmark::State& state, Runtime& runtime,
                   const Client& client, const std::string& url) {
  for (auto _ : state) {
    CHECK_OK(runtime.BlockOn(Ask(client, url)));
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_RequestOverDuplex(benchmark::State& state) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  ClientOptions options;
  options.connect = [](Origin) -> Co<absl::StatusOr<ByteStream>> {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
    Spawn(ServeConnection(std::move(ends.second), &Hello)).Detach();
    co_return ByteStream(std::move(ends.first));
  };
  AskRepeatedly(state, *runtime, Client(options), "http://a/");
}
BENCHMARK(BM_RequestOverDuplex);

void BM_RequestOverTcp(benchmark::State& state) {
  absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
  std::string url;
  const auto serve = [&url]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    url =
        absl::StrCat("http://", co_await OrReturn(listener.local_addr()), "/");
    Spawn(Serve(std::move(listener), &Hello)).Detach();
    co_return absl::OkStatus();
  };
  CHECK_OK(runtime->BlockOn(serve));
  AskRepeatedly(state, *runtime, Client(), url);
}
BENCHMARK(BM_RequestOverTcp);

}  // namespace
}  // namespace rouse::http
