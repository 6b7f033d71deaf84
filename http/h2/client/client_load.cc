// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures a client against a server in another process, such as the example
// http2_server: the processor's time of this process for each request, and the
// memory of an idle connection.
//
//   tools/bazel run -c opt //http/h2/client:client_load --
//       --url=http://127.0.0.1:8080/ --http2 --requests=100000 --at_once=100

#include <malloc.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/check.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/client.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/response.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"

ABSL_FLAG(std::string, url, "http://127.0.0.1:8080/", "The URL.");
ABSL_FLAG(bool, http2, false, "HTTP/2, rather than HTTP/1.1.");
ABSL_FLAG(int, requests, 100'000, "Number of requests.");
ABSL_FLAG(int, at_once, 100, "Number of requests at once.");
ABSL_FLAG(int, idle, 0,
          "Measure the memory of this many idle connections instead.");

namespace rouse::http {
namespace {

// The processor's time of this process, in microseconds.
int64_t CpuTime() {
  rusage usage;
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  const auto of = [](const timeval& time) {
    return time.tv_sec * int64_t{1'000'000} + time.tv_usec;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

Client MakeClient() {
  ClientOptions options;
  options.max_idle_per_origin = 1000;
  options.max_connections_per_origin = 1000;
  if (absl::GetFlag(FLAGS_http2)) {
    h2::ClientLimits limits;
    limits.prior_knowledge = true;
    options.http2 = h2::ClientProtocol(limits);
  }
  return Client(std::move(options));
}

Co<absl::Status> Ask(Client client, std::string url, int count) {
  for (int i = 0; i < count; ++i) {
    Response response = co_await OrReturn(client.Get(url));
    const std::string body = co_await OrReturn(response.body.ReadAll(1 << 20));
    CHECK(!body.empty());
  }
  co_return absl::OkStatus();
}

Co<absl::Status> AskAtOnce(Client client, std::string url, int requests) {
  const int at_once = absl::GetFlag(FLAGS_at_once);
  std::vector<JoinHandle<absl::Status>> all;
  all.reserve(at_once);
  for (int i = 0; i < at_once; ++i) {
    all.push_back(Spawn(Ask(client, url, requests / at_once)));
  }
  for (JoinHandle<absl::Status>& each : all) {
    absl::Status status = co_await each;
    co_await OrReturn(std::move(status));
  }
  co_return absl::OkStatus();
}

Co<absl::Status> KeepIdle(std::vector<Client>& clients, std::string url,
                          int count) {
  for (int i = 0; i < count; ++i) {
    clients.push_back(MakeClient());
    co_await OrReturn(Ask(clients.back(), url, 1));
  }
  co_return absl::OkStatus();
}

void Measure(Runtime& runtime) {
  const std::string url = absl::GetFlag(FLAGS_url);
  const int idle = absl::GetFlag(FLAGS_idle);
  if (idle > 0) {
    std::vector<Client> clients;
    clients.reserve(size_t{2} * static_cast<size_t>(idle));
    // The first connections also make what all share.
    CHECK_OK(runtime.BlockOn(KeepIdle(clients, url, idle)));
    const size_t before = mallinfo2().uordblks;
    CHECK_OK(runtime.BlockOn(KeepIdle(clients, url, idle)));
    const size_t after = mallinfo2().uordblks;
    absl::PrintF("%d bytes for each idle connection\n",
                 (after - before) / idle);
    return;
  }
  const Client client = MakeClient();
  const int requests = absl::GetFlag(FLAGS_requests);
  CHECK_OK(runtime.BlockOn(AskAtOnce(client, url, requests / 10)));
  const int64_t before = CpuTime();
  CHECK_OK(runtime.BlockOn(AskAtOnce(client, url, requests)));
  absl::PrintF("%.2f us of the processor for each request\n",
               static_cast<double>(CpuTime() - before) / requests);
}

}  // namespace
}  // namespace rouse::http

int main(int argc, char** argv) {
  absl::InitializeLog();
  absl::ParseCommandLine(argc, argv);
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  CHECK_OK(runtime);
  rouse::http::Measure(*runtime);
}
