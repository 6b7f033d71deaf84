// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of responses that cannot be sent: the client's window is closed, the
// source fails, nghttp2 refuses the header, or the handler's task is gone. And
// of a request that ends at the last moment.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/poll_fn.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/h2/stream_run.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/runtime/runtime.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/paused_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOkAndHolds;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kInternalError = 2;
constexpr uint32_t kCancel = 8;

// ---- The window.

// A client whose windows are opened by the test.
TestClient::Options ClosedWindow(int64_t window) {
  TestClient::Options client;
  client.stream_window = window;
  client.opens_windows = false;
  return client;
}

TEST(Http2, LimitsTheTimeOfAWindowThatClosesBeforeTheSourceYields) {
  const auto handler = [](Request request) -> Answer {
    Response response;
    response.body = std::move(request.body);
    co_return response;
  };
  ServerOptions options = WithHttp2();
  Connection connection(handler, options, ClosedWindow(1000));
  auto upload = std::make_shared<TestClient::Upload>();
  upload->unsent = std::string(1000, 'x');
  const int32_t id = connection.client().Send("POST", "/", {}, upload);
  connection.Pump();
  EXPECT_EQ(connection.reply(id).body.size(), 1000);
  // The client is waited for only while bytes wait.
  connection.Pass(options.progress_timeout - absl::Seconds(1));
  upload->unsent = std::string(10'000, 'x');
  connection.client().Resume(id);
  connection.Pass(options.progress_timeout - absl::Seconds(1));
  EXPECT_FALSE(connection.reply(id).is_closed);
  connection.Pass(absl::Seconds(1));
  EXPECT_TRUE(connection.reply(id).is_closed);
  EXPECT_EQ(connection.reply(id).error, kCancel);
}

TEST(Http2, LimitsTheTimeOfAnEndThatTheWindowKeepsBack) {
  std::optional<oneshot::Sender<int>> go;
  const auto handler = [&go](Request) -> Answer {
    auto [sender, receiver] = oneshot::Channel<int>();
    go.emplace(std::move(sender));
    const auto pieces = [](oneshot::Receiver<int> end) -> Gen<std::string> {
      co_yield std::string(1000, 'x');
      (void)co_await end;
    };
    Response response;
    response.body = Body::FromStream(pieces(std::move(receiver)));
    co_return response;
  };
  ServerOptions options = WithHttp2();
  Connection connection(handler, options, ClosedWindow(1000));
  const int32_t id = connection.client().Get("/");
  connection.Pass(options.progress_timeout + absl::Seconds(5));
  EXPECT_EQ(connection.reply(id).body.size(), 1000);
  EXPECT_FALSE(connection.reply(id).is_closed);
  EXPECT_TRUE(std::move(*go).Send(1));
  connection.Pass(options.progress_timeout);
  EXPECT_TRUE(connection.reply(id).is_closed);
}

// ---- A source that fails.

TEST(Http2, ASourceThatFailsBehindAClosedWindowResetsTheStream) {
  for (const int window : {0, 1000}) {
    std::optional<oneshot::Sender<int>> go;
    const auto handler = [&go](Request) -> Answer {
      auto [sender, receiver] = oneshot::Channel<int>();
      go.emplace(std::move(sender));
      const auto pieces =
          [](oneshot::Receiver<int> end) -> Gen<absl::StatusOr<std::string>> {
        co_yield std::string(2000, 'x');
        (void)co_await end;
        co_yield absl::DataLossError("the disk is broken");
      };
      Response response;
      response.body = Body::FromStream(pieces(std::move(receiver)));
      co_return response;
    };
    Connection connection(handler, WithHttp2(), ClosedWindow(window));
    const int32_t id = connection.client().Get("/");
    connection.Pump();
    EXPECT_EQ(connection.reply(id).body.size(), window);
    EXPECT_TRUE(std::move(*go).Send(1));
    connection.Pump();
    EXPECT_EQ(connection.reply(id).status, 200);
    EXPECT_TRUE(connection.reply(id).is_closed);
    EXPECT_EQ(connection.reply(id).error, kInternalError);
  }
}

TEST(Http2, ASourceThatFailsAtOnceResetsTheStreamAfterTheHeader) {
  const auto handler = [](Request) -> Answer {
    const auto pieces = []() -> Gen<absl::StatusOr<std::string>> {
      co_yield absl::DataLossError("the disk is broken");
    };
    Response response;
    response.body = Body::FromStream(pieces());
    co_return response;
  };
  Connection connection(handler, WithHttp2(), ClosedWindow(0));
  const int32_t id = connection.client().Get("/");
  connection.Pump();
  EXPECT_EQ(connection.reply(id).status, 200);
  EXPECT_TRUE(connection.reply(id).is_closed);
  EXPECT_EQ(connection.reply(id).error, kInternalError);
}

// ---- Large headers.

Headers Cookies(int count, int size) {
  Headers headers;
  for (int i = 0; i < count; ++i) {
    headers.AddChecked("set-cookie", std::string(size, 'c'));
  }
  return headers;
}

TEST(Http2, SendsLargeHeadersAndTrailers) {
  const auto handler = [](Request request) -> Answer {
    Response response = Response::Text(request.target == "/" ? "" : "hello");
    response.headers = Cookies(10, 10'000);
    response.body.trailers() = Cookies(10, 10'000);
    co_return response;
  };
  Connection connection(handler);
  for (const std::string_view path : {"/", "/text"}) {
    const TestClient::Reply& reply = connection.Get(path);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.headers.GetAll("set-cookie").size(), 10);
    EXPECT_EQ(reply.trailers.GetAll("set-cookie").size(), 10);
    EXPECT_TRUE(reply.has_ended);
  }
}

// A body that ends with many trailers, as one from another server can.
class ManyTrailers final : public internal::BodySource {
 public:
  PollResult<absl::StatusOr<size_t>> PollRead(Context&,
                                              absl::Span<char>) override {
    return absl::StatusOr<size_t>(0);
  }
  Headers TakeTrailers() override { return Cookies(20'000, 1); }
};

TEST(Http2, AHeaderOrTrailerBeyondTheLimitIsAnError) {
  const auto handler = [](Request request) -> Answer {
    Response response = Response::Text("hello");
    if (request.target == "/source") {
      response.body = Body(std::make_unique<ManyTrailers>(), std::nullopt);
    } else if (request.target == "/header") {
      response.headers = Cookies(14, 10'000);
    } else {
      response.body.trailers() = Cookies(20'000, 1);
    }
    co_return response;
  };
  Connection connection(handler);
  for (const std::string_view path : {"/header", "/text"}) {
    const TestClient::Reply& reply = connection.Get(path);
    EXPECT_EQ(reply.status, 500);
    EXPECT_EQ(reply.body, "the server has failed\n");
    EXPECT_TRUE(reply.has_ended);
    EXPECT_EQ(reply.error, kNoError);
  }
  // The response has begun.
  const TestClient::Reply& reply = connection.Get("/source");
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.is_closed);
  EXPECT_EQ(reply.error, kInternalError);
}

// ---- A task that ends without an answer.

TEST(Http2, ATaskThatIsDestroyedFailsItsStream) {
  const auto link = std::make_shared<internal::ServerLink>("", 1000, 1000);
  const auto stream = std::make_shared<internal::ServerStream>(1);
  const auto closed = std::make_shared<internal::ServerStream>(3);
  const auto answered = std::make_shared<internal::ServerStream>(5);
  const auto sending = std::make_shared<internal::ServerStream>(7);
  closed->is_closed = true;
  answered->has_answer = true;
  sending->has_answer = sending->streams_out = true;
  for (const auto& each : {stream, closed, answered, sending}) {
    each->request.emplace();
    internal::StreamRun run(link, each, nullptr);
    const ThreadMutexLock lock(&link->mu);
    run.Count(*link);
  }
  const ThreadMutexLock lock(&link->mu);
  EXPECT_EQ(link->runs, 0);
  EXPECT_EQ(link->unpolled.load(std::memory_order_relaxed), 0);
  EXPECT_THAT(link->changed, ::testing::ElementsAre(stream, sending));
  EXPECT_TRUE(stream->out_has_failed);
  EXPECT_TRUE(sending->out_has_failed);
}

// ---- Memory that runs out.

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS
TEST(Http2, AReadWithoutMemoryLosesNoByte) {
  const auto link = std::make_shared<internal::ServerLink>("", 1000, 1000);
  const auto stream = std::make_shared<internal::ServerStream>(1);
  stream->in.Append("hello");
  internal::StreamBody body(link, stream, absl::InfiniteDuration());
  const CountingWaker task;
  Context cx(task.waker());
  char bytes[10];
  {
    const FailingAllocation failing(0);
    EXPECT_THROW((void)body.PollRead(cx, absl::MakeSpan(bytes)),
                 std::bad_alloc);
  }
  const PollResult<absl::StatusOr<size_t>> size =
      body.PollRead(cx, absl::MakeSpan(bytes));
  ASSERT_TRUE(size.IsReady());
  EXPECT_THAT(*size, IsOkAndHolds(size_t{5}));
}

TEST(Http2, ATaskThatIsDestroyedWithoutMemoryWakesTheConnection) {
  const auto link = std::make_shared<internal::ServerLink>("", 1000, 1000);
  const auto stream = std::make_shared<internal::ServerStream>(1);
  std::optional<internal::StreamRun> run;
  stream->request.emplace();
  run.emplace(link, stream, nullptr);
  bool is_woken = false;
  const auto wake = [&is_woken] { is_woken = true; };
  {
    const ThreadMutexLock lock(&link->mu);
    link->session = Waker::FromCallable(wake);
    run->Count(*link);
  }
  {
    const FailingAllocation failing(0);
    run.reset();
    EXPECT_TRUE(failing.has_failed());
  }
  EXPECT_TRUE(is_woken);
}
#endif

// ---- A race of the connection's task with the reader's timer.

TEST(Http2, ABodyThatEndsAtTheLastMomentIsComplete) {
  const auto link = std::make_shared<internal::ServerLink>("", 1000, 1000);
  const auto stream = std::make_shared<internal::ServerStream>(1);
  // The reader wakes the connection's task after having found nothing, and
  // before looking at the timer.
  const auto end = [&link, &stream] {
    std::optional<Waker> reader;
    {
      const ThreadMutexLock lock(&link->mu);
      stream->in_is_complete = true;
      reader.swap(stream->reader);
    }
    ASSERT_TRUE(reader.has_value());
    std::move(*reader).Wake();
  };
  {
    const ThreadMutexLock lock(&link->mu);
    stream->expects_continue = true;
    link->session = Waker::FromCallable(end);
  }
  internal::StreamBody body(link, stream, absl::ZeroDuration());
  const auto read = [&body]() -> Co<absl::StatusOr<size_t>> {
    char bytes[10];
    const auto poll = [&body, &bytes](Context& cx) {
      return body.PollRead(cx, absl::MakeSpan(bytes));
    };
    co_return co_await PollFn(poll);
  };
  Runtime runtime = PausedRuntime();
  EXPECT_THAT(runtime.BlockOn(read()), IsOkAndHolds(size_t{0}));
}

}  // namespace
}  // namespace rouse::http::h2
