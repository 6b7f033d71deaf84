// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the end of a server of HTTP/2, and of requests that come or end at
// the last moment.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/poll_fn.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kCancel = 8;
constexpr int32_t kMaxId = 0x7fffffff;

// A listener that accepts one connection.
class OneConnection {
 public:
  struct Accepted {
    explicit Accepted(DuplexStream stream) : stream(std::move(stream)) {}

    DuplexStream stream;
    std::string peer = "the test";
  };

  explicit OneConnection(DuplexStream stream)
      : stream_(std::make_unique<DuplexStream>(std::move(stream))) {}

  PollResult<absl::StatusOr<Accepted>> PollAccept(Context&) {
    if (stream_ == nullptr) return kPending;
    Accepted accepted(std::move(*stream_));
    stream_.reset();
    return absl::StatusOr<Accepted>(std::move(accepted));
  }

 private:
  std::unique_ptr<DuplexStream> stream_;
};

// Counts the objects that exist. The destructor takes long.
class DestroyedSlowly {
 public:
  explicit DestroyedSlowly(std::atomic<int>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  DestroyedSlowly(const DestroyedSlowly&) = delete;
  DestroyedSlowly& operator=(const DestroyedSlowly&) = delete;
  ~DestroyedSlowly() {
    absl::SleepFor(absl::Milliseconds(50));
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<int>& count_;
};

// Sends and receives until `is_done()`, or for ten seconds.
template <class F>
Co<> StepUntil(TestClient& client, F is_done) {
  for (int i = 0; i < 10'000 && !is_done(); ++i) {
    auto step = [&client](Context& cx) -> PollResult<bool> {
      return client.Step(cx);
    };
    (void)co_await PollFn(step);
    co_await Sleep(absl::Milliseconds(1));
  }
}

// A stream that calls functions first, which may block the thread.
class Hooked {
 public:
  using Waiter = DuplexStream::Waiter;
  using Hook = std::function<void()>;

  Hooked(DuplexStream stream, Hook before_read, Hook before_write)
      : stream_(std::move(stream)),
        before_read_(std::move(before_read)),
        before_write_(std::move(before_write)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    before_read_();
    return stream_.PollRead(cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) {
    before_write_();
    return stream_.PollWrite(cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    return PollWrite(cx, parts[0], waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    return stream_.PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    return stream_.PollShutdown(cx);
  }

 private:
  DuplexStream stream_;
  Hook before_read_;
  Hook before_write_;
};

Runtime TwoWorkers() {
  return *Builder::MultiThread().WorkerThreads(2).Build();
}

TEST(Http2, ServeWaitsForTheHandlersThatAreAborted) {
  Runtime runtime = TwoWorkers();
  std::atomic<int> alive = 0;
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  auto handler = [&alive, held = std::move(held)](Request) -> Answer {
    const DestroyedSlowly counted(alive);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
  ServerOptions options = WithHttp2();
  options.drain_timeout = absl::ZeroDuration();
  const CancellationToken stop = options.stop;
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  TestClient client(std::move(ends.first));
  client.Get("/");
  JoinHandle<absl::Status> served =
      runtime.Spawn(Serve(OneConnection(std::move(ends.second)),
                          std::move(handler), std::move(options)));
  const auto run = [&]() -> Co<absl::Status> {
    co_await StepUntil(
        client, [&] { return alive.load(std::memory_order_relaxed) > 0; });
    stop.Cancel();
    absl::Status status = co_await served;
    EXPECT_EQ(alive.load(std::memory_order_relaxed), 0);
    EXPECT_TRUE(watched.expired());
    co_return status;
  };
  EXPECT_THAT(runtime.BlockOn(run()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(Http2, ARequestAfterTheLastOfTheGoawayIsNotStarted) {
  Runtime runtime = TwoWorkers();
  std::atomic<int> calls = 0;
  const auto handler = [&calls](Request) -> Answer {
    calls.fetch_add(1, std::memory_order_relaxed);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
  ServerOptions options = WithHttp2();
  const CancellationToken stop = options.stop;
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  TestClient::Options without_pings;
  without_pings.answers_pings = false;
  TestClient client(std::move(ends.first), without_pings);
  const int32_t first = client.Get("/");
  // Other tasks have time before a frame is sent.
  const auto sleep = [] { absl::SleepFor(absl::Milliseconds(50)); };
  JoinHandle<absl::Status> served =
      runtime.Spawn(ServeConnection(Hooked(
                                        std::move(ends.second), [] {}, sleep),
                                    handler, std::move(options)));
  const auto run = [&]() -> Co<> {
    co_await StepUntil(
        client, [&] { return calls.load(std::memory_order_relaxed) == 1; });
    stop.Cancel();
    co_await StepUntil(client, [&] { return client.goaways().size() == 1; });
    // The PING's answer, and with it requests. The client learns that the
    // server has not begun them, and may send them elsewhere.
    client.SendRaw(absl::StrCat(Frame(6, 1, 0, "draining"),
                                Frame(1, 5, 3, HeaderBlock()),
                                Frame(1, 4, 5, HeaderBlock("POST"))));
    co_await StepUntil(client, [&] { return client.goaways().size() == 2; });
    served.Abort();
    (void)co_await served;
  };
  runtime.BlockOn(run());
  EXPECT_THAT(client.goaways(),
              ElementsAre(Pair(kMaxId, kNoError), Pair(first, kNoError)));
  EXPECT_EQ(calls.load(std::memory_order_relaxed), 1);
}

TEST(Http2, LimitsTheTimeOfBytesThatComeWhileTheSessionReads) {
  Runtime runtime = TwoWorkers();
  ServerOptions options = WithHttp2();
  options.progress_timeout = absl::Milliseconds(20);
  absl::Notification has_opened;
  absl::Notification is_reading;
  absl::Notification has_yielded;
  std::pair<oneshot::Sender<void>, oneshot::Receiver<void>> go =
      oneshot::Channel<void>();
  const auto source = [&]() -> Gen<std::string> {
    co_yield std::string(1000, 'x');
    (void)co_await go.second;
    co_yield std::string(1000, 'x');
    has_yielded.Notify();
    co_await Sleep(absl::InfiniteDuration());
  };
  const auto handler = [&source](Request) -> Answer {
    Response response;
    response.body = Body::FromStream(source());
    co_return response;
  };
  // The session has looked for bytes, and reads that the window is larger.
  const auto before_read = [&] {
    if (!has_opened.HasBeenNotified() || is_reading.HasBeenNotified()) return;
    is_reading.Notify();
    has_yielded.WaitForNotification();
  };
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  TestClient::Options window;
  window.stream_window = 1000;
  window.opens_windows = false;
  TestClient client(std::move(ends.first), window);
  const int32_t id = client.Get("/");
  JoinHandle<absl::Status> served = runtime.Spawn(ServeConnection(
      Hooked(std::move(ends.second), before_read, [] {}), handler, options));
  const auto run = [&]() -> Co<> {
    co_await StepUntil(client,
                       [&] { return client.reply(id).body.size() == 1000; });
    // No byte waits when the timer of the first bytes ends.
    co_await Sleep(5 * options.progress_timeout);
    has_opened.Notify();
    client.OpenWindow(id, 500);
    co_await StepUntil(client, [&] { return is_reading.HasBeenNotified(); });
    EXPECT_TRUE(std::move(go.first).Send());
    co_await StepUntil(client, [&] { return client.reply(id).is_closed; });
    served.Abort();
    (void)co_await served;
  };
  runtime.BlockOn(run());
  EXPECT_TRUE(client.reply(id).is_closed);
  EXPECT_EQ(client.reply(id).error, kCancel);
}

TEST(Http2, AnAnswerAtTheLastMomentHasTheTimeOfTheRequest) {
  Runtime runtime = TwoWorkers();
  ServerOptions options = WithHttp2();
  options.request_timeout = absl::Milliseconds(100);
  absl::Notification begun;
  absl::Notification is_late;
  absl::Notification has_answered;
  std::pair<oneshot::Sender<void>, oneshot::Receiver<void>> go =
      oneshot::Channel<void>();
  const auto source = [&has_answered]() -> Gen<std::string> {
    has_answered.Notify();
    co_yield "x";
    co_await Sleep(absl::InfiniteDuration());
  };
  const auto handler = [&](Request) -> Answer {
    begun.Notify();
    (void)co_await go.second;
    Response response;
    response.body = Body::FromStream(source());
    co_return response;
  };
  // The session has looked for an answer, and looks for the time next.
  std::optional<absl::Time> first_read;
  const auto before_read = [&] {
    if (!begun.HasBeenNotified() || is_late.HasBeenNotified()) return;
    if (!first_read.has_value()) first_read = absl::Now();
    if (absl::Now() < *first_read + absl::Milliseconds(50)) return;
    absl::SleepFor(absl::Milliseconds(100));
    is_late.Notify();
    has_answered.WaitForNotification();
  };
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  TestClient client(std::move(ends.first));
  const int32_t id = client.Get("/");
  JoinHandle<absl::Status> served = runtime.Spawn(
      ServeConnection(Hooked(std::move(ends.second), before_read, [] {}),
                      handler, std::move(options)));
  const auto run = [&]() -> Co<> {
    co_await StepUntil(client, [&] { return is_late.HasBeenNotified(); });
    EXPECT_TRUE(std::move(go.first).Send());
    co_await StepUntil(client, [&] { return client.reply(id).is_closed; });
    served.Abort();
    (void)co_await served;
  };
  runtime.BlockOn(run());
  EXPECT_EQ(client.reply(id).status, 200);
  EXPECT_EQ(client.reply(id).error, kCancel);
}

}  // namespace
}  // namespace rouse::http::h2
