// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests of several threads that share the connections of a client, and that
// are cancelled at any moment.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/h2/shared/stress_handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;

// Sends a request, and reads all of the answer, or a part.
Co<absl::Status> Ask(Client client, char kind, size_t size, bool reads_all,
                     bool has_source) {
  absl::StatusOr<Request> request =
      Request::To(kind == 'e' ? "POST" : "GET",
                  absl::StrCat("http://a/", std::string(1, kind), "/", size));
  if (kind == 'e') {
    request->body = has_source ? Body::FromStream(StressPieces(size))
                               : Body(std::string(size, 'y'));
  }
  absl::StatusOr<Response> response = co_await client.Send(*std::move(request));
  if (!response.ok()) co_return response.status();
  EXPECT_EQ(response->status, 200);
  if (!reads_all) co_return absl::OkStatus();
  const absl::StatusOr<std::string> body =
      co_await response->body.ReadAll(1 << 20);
  if (!body.ok()) co_return body.status();
  EXPECT_EQ(body->size(), size);
  co_return absl::OkStatus();
}

// Sends requests, of which some are given up.
Co<int> AskOften(Client client, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  int answered = 0;
  for (int i = 0; i < count; ++i) {
    const char kind = "eswt"[random() % 4];
    const size_t size = random() % 50 == 0 ? 100'000 : random() % 3000;
    const absl::Duration time = random() % 4 == 0
                                    ? absl::Microseconds(random() % 2000)
                                    : absl::InfiniteDuration();
    auto ask = Ask(client, kind, size, random() % 8 != 0, random() % 2 == 0);
    const absl::Status status = co_await Timeout(time, std::move(ask));
    if (TimedOut(status)) continue;
    // The server may have begun to stop while the body was sent.
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    if (status.ok()) ++answered;
  }
  co_return answered;
}

// Serves a connection, and stops after some time.
Co<> ServeForAWhile(DuplexStream stream, std::atomic<int>& serving) {
  Options limits;
  limits.stream_window_bytes = 50'000;
  limits.max_concurrent_streams = 10;
  ServerOptions options;
  options.http2 = Protocol(limits);
  const CancellationToken stop = options.stop;
  auto served = ServeConnection(std::move(stream), &StressHandler, options);
  const absl::Status ended = co_await Timeout(absl::Milliseconds(20), served);
  if (TimedOut(ended)) {
    stop.Cancel();
    (co_await served).IgnoreError();
  }
  // Relaxed: the test only waits for the number.
  serving.fetch_sub(1, std::memory_order_relaxed);
}

TEST(Http2ClientStress, SharesConnectionsBetweenThreads) {
  constexpr int kTasks = 16;
  constexpr int kRequests = 100;
  uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(absl::Seconds(1));
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(2).Build();
  ASSERT_THAT(runtime, IsOk());
  do {
    std::atomic<int> serving = 0;
    ClientOptions options;
    ClientLimits limits;
    limits.prior_knowledge = true;
    limits.stream_window_bytes = 50'000;
    options.http2 = ClientProtocol(limits);
    options.max_connections_per_origin = 2;
    // The servers end their connections now and then.
    options.connect = [&serving](Origin) -> Co<absl::StatusOr<ByteStream>> {
      std::pair<DuplexStream, DuplexStream> ends = Duplex(20'000);
      serving.fetch_add(1, std::memory_order_relaxed);
      Spawn(ServeForAWhile(std::move(ends.second), serving)).Detach();
      co_return ByteStream(std::move(ends.first));
    };
    int answered = 0;
    {
      const Client client(options);
      std::vector<JoinHandle<int>> all;
      for (int i = 0; i < kTasks; ++i) {
        all.push_back(runtime->Spawn(AskOften(client, ++seed, kRequests)));
      }
      for (JoinHandle<int>& each : all) {
        const auto join = [&each]() -> Co<absl::StatusOr<int>> {
          co_return co_await each;
        };
        const absl::StatusOr<int> result = runtime->BlockOn(join());
        ASSERT_THAT(result, IsOk());
        answered += *result;
      }
    }
    EXPECT_GT(answered, kTasks * kRequests / 4);
    // The connections end with the client.
    const auto wait = [&serving]() -> Co<> {
      // Relaxed: see above.
      while (serving.load(std::memory_order_relaxed) > 0) {
        co_await Sleep(absl::Milliseconds(1));
      }
    };
    runtime->BlockOn(wait());
    EXPECT_EQ(StressHandlersAlive(), 0);
  } while (absl::Now() < end);
}

}  // namespace
}  // namespace rouse::http::h2
