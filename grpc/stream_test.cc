// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the three shapes of streams, from call.h to serve.h.

#include "rouse/future/stream.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "echo.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/grpc/call.h"
#include "rouse/grpc/echo_fixture.h"
#include "rouse/grpc/reader.h"
#include "rouse/grpc/serve.h"
#include "rouse/grpc/writer.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/poll_once.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

using Item = std::optional<absl::StatusOr<echo::Text>>;

// Sends `count` numbered messages of `size` bytes.
Co<absl::Status> Count(Writer<echo::Text> writer, int count, size_t size,
                       std::atomic<int>* sent) {
  for (int i = 0; i < count; ++i) {
    const absl::Status status =
        co_await writer.Send(MakeText(std::string(size, 'x'), i));
    if (!status.ok()) co_return status;
    ++*sent;
  }
  co_return absl::OkStatus();
}

// Joins the messages up to the end.
Co<absl::Status> Join(Reader<echo::Text> reader, echo::Text* response) {
  for (;;) {
    Item item = co_await Next(reader);
    if (!item.has_value()) co_return absl::OkStatus();
    if (!item->ok()) co_return item->status();
    response->set_text(response->text() + (*item)->text());
  }
}

Co<absl::Status> EchoAll(Reader<echo::Text> reader, Writer<echo::Text> writer) {
  for (;;) {
    Item item = co_await Next(reader);
    if (!item.has_value()) co_return absl::OkStatus();
    if (!item->ok()) co_return item->status();
    const absl::Status status = co_await writer.Send(**std::move(item));
    if (!status.ok()) co_return status;
  }
}

// Returns the numbers of all messages, and sets the status at the end.
Co<std::vector<int>> Numbers(ClientReader<echo::Text>& reader,
                             absl::Status* status) {
  std::vector<int> numbers;
  for (;;) {
    Item item = co_await Next(reader);
    if (!item.has_value()) co_return numbers;
    if (item->ok()) {
      numbers.push_back((*item)->number());
    } else {
      *status = item->status();
    }
  }
}

class ServerStreamTest : public EchoTest {
 protected:
  void Repeat(int count, size_t size) {
    service().repeat = [this, count, size](auto* context, const auto*) {
      return ServeServerStream<echo::Text>(
          handle(), context,
          [this, count, size](Writer<echo::Text> writer) -> Co<absl::Status> {
            Gone gone(&gone_);
            co_return co_await Count(std::move(writer), count, size, &sent_);
          });
    };
  }

  std::atomic<int> sent_ = 0;
  absl::Notification gone_;
};

TEST_F(ServerStreamTest, ReturnsEachMessageAndTheEnd) {
  Repeat(3, 10);
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  absl::Status status;
  EXPECT_THAT(BlockOn(Numbers(reader, &status)), ElementsAre(0, 1, 2));
  EXPECT_THAT(status, IsOk());
  EXPECT_FALSE(BlockOn(Next(reader)).has_value());  // and the end again
}

TEST_F(ServerStreamTest, AnErrorIsTheLastItem) {
  service().repeat = [this](auto* context, const auto*) {
    context->AddInitialMetadata("first", "1");
    context->AddTrailingMetadata("last", "2");
    return ServeServerStream<echo::Text>(
        handle(), context, [](Writer<echo::Text> writer) -> Co<absl::Status> {
          (void)co_await writer.Send(MakeText("", 7));
          co_return absl::DataLossError("the rest is lost");
        });
  };
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  EXPECT_EQ((**BlockOn(Next(reader))).number(), 7);
  EXPECT_EQ(reader.initial_metadata().count("first"), 1);
  EXPECT_THAT(BlockOn(Next(reader))->status(),
              StatusIs(absl::StatusCode::kDataLoss, "the rest is lost"));
  EXPECT_FALSE(BlockOn(Next(reader)).has_value());
  EXPECT_EQ(reader.trailing_metadata().count("last"), 1);
}

TEST_F(ServerStreamTest, ASlowReaderStopsTheServer) {
  constexpr int kMessages = 500;
  constexpr size_t kSize = 64 << 10;
  Repeat(kMessages, kSize);
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  EXPECT_TRUE(BlockOn(Next(reader))->ok());
  // The server sends until the windows of gRPC and the buffers of the system
  // are full. If the server was only slow, the bound holds all the more.
  EXPECT_LT(Settled(sent_), kMessages - 100) << "the messages wait in memory";
  absl::Status status;
  EXPECT_EQ(BlockOn(Numbers(reader, &status)).size(), kMessages - 1);
  EXPECT_THAT(status, IsOk());
}

TEST_F(ServerStreamTest, DestroyingTheReaderDestroysTheHandler) {
  Repeat(1 << 30, 1000);
  {
    ClientReader<echo::Text> reader =
        Call(stub(), &Async::Repeat, MakeText("go"));
    EXPECT_TRUE(BlockOn(Next(reader))->ok());
  }
  gone_.WaitForNotification();
}

TEST_F(ServerStreamTest, DestroyingNextLosesNoMessage) {
  Repeat(20, 10);
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  std::vector<int> numbers;
  for (;;) {
    // A message can arrive between this poll and the next future.
    {
      auto next = Next(reader);
      PollResult<Item> item = PollOnce(next);
      if (item.IsReady()) {
        if (!item->has_value()) break;
        numbers.push_back((**item)->number());
        continue;
      }
    }
    Item item = BlockOn(Next(reader));
    if (!item.has_value()) break;
    numbers.push_back((*item)->number());
  }
  ASSERT_EQ(numbers.size(), 20);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(numbers[i], i);
}

TEST_F(ServerStreamTest, DestroyingASendDoesNotMixMessages) {
  service().repeat = [this](auto* context, const auto*) {
    return ServeServerStream<echo::Text>(
        handle(), context, [](Writer<echo::Text> writer) -> Co<absl::Status> {
          {
            auto dropped = writer.Send(MakeText("", 1));
            EXPECT_TRUE(PollOnce(dropped).IsPending());
          }
          {
            auto never = writer.Send(MakeText("", 99));
          }
          EXPECT_THAT(co_await writer.Send(MakeText("", 2)), IsOk());
          // The call is finished after this message.
          auto last = writer.Send(MakeText("", 3));
          EXPECT_TRUE(PollOnce(last).IsPending());
          co_return absl::OkStatus();
        });
  };
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  absl::Status status;
  EXPECT_THAT(BlockOn(Numbers(reader, &status)), ElementsAre(1, 2, 3));
  EXPECT_THAT(status, IsOk());
}

TEST_F(ServerStreamTest, AWriterMayOutliveItsHandler) {
  std::optional<Writer<echo::Text>> kept;
  service().repeat = [&](auto* context, const auto*) {
    return ServeServerStream<echo::Text>(
        handle(), context, [&](Writer<echo::Text> writer) -> Co<absl::Status> {
          kept.emplace(std::move(writer));
          co_return absl::OkStatus();
        });
  };
  ClientReader<echo::Text> reader =
      Call(stub(), &Async::Repeat, MakeText("go"));
  EXPECT_FALSE(BlockOn(Next(reader)).has_value());
  EXPECT_THAT(BlockOn(kept->Send(MakeText("late"))),
              StatusIs(absl::StatusCode::kCancelled));
}

class ClientStreamTest : public EchoTest {
 protected:
  ClientStreamTest() {
    service().concat = [this](auto* context, auto* response) {
      return ServeClientStream<echo::Text>(
          handle(), context,
          [this, response](Reader<echo::Text> reader) -> Co<absl::Status> {
            Gone gone(&gone_);
            co_return co_await Join(std::move(reader), response);
          });
    };
  }

  absl::Notification gone_;
};

TEST_F(ClientStreamTest, TheResponseFollowsTheMessages) {
  auto [writer, response] = Call(stub(), &Async::Concat);
  EXPECT_THAT(BlockOn(writer.Send(MakeText("a"))), IsOk());
  EXPECT_THAT(BlockOn(writer.Send(MakeText("b"))), IsOk());
  EXPECT_THAT(BlockOn(writer.Close()), IsOk());
  EXPECT_THAT(BlockOn(writer.Close()), IsOk());
  EXPECT_THAT(BlockOn(writer.Send(MakeText("c"))),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(BlockOn(std::move(response))->text(), "ab");
}

TEST_F(ClientStreamTest, AWriterThatIsDestroyedOpenCancelsTheCall) {
  absl::Status seen;
  absl::Notification begun;
  service().concat = [&](auto* context, auto* response) {
    return ServeClientStream<echo::Text>(
        handle(), context,
        [&, response](Reader<echo::Text> reader,
                      CancellationToken) -> Co<absl::Status> {
          begun.Notify();
          seen = co_await Join(std::move(reader), response);
          co_return seen;
        });
  };
  auto [writer, response] = Call(stub(), &Async::Concat);
  {
    ClientWriter<echo::Text> dropped = std::move(writer);
    EXPECT_THAT(BlockOn(dropped.Send(MakeText("half"))), IsOk());
    // A server need not call a handler for a call that was cancelled before.
    begun.WaitForNotification();
  }
  EXPECT_THAT(BlockOn(std::move(response)),
              StatusIs(absl::StatusCode::kCancelled));
  Shutdown();  // waits for the handler
  EXPECT_THAT(seen, StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(ClientStreamTest, DestroyingTheResponseDestroysTheHandler) {
  auto [writer, response] = Call(stub(), &Async::Concat);
  EXPECT_THAT(BlockOn(writer.Send(MakeText("a"))), IsOk());
  {
    auto dropped = std::move(response);
  }
  absl::Status status;
  while (status.ok()) status = BlockOn(writer.Send(MakeText("b")));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  Shutdown();
}

TEST_F(ClientStreamTest, AnEarlyErrorReachesTheWriterAndTheResponse) {
  service().concat = [this](auto* context, auto*) {
    return ServeClientStream<echo::Text>(
        handle(), context, [](Reader<echo::Text>) -> Co<absl::Status> {
          co_return absl::ResourceExhaustedError("no room");
        });
  };
  auto [writer, response] = Call(stub(), &Async::Concat);
  // The writer is still open.
  EXPECT_THAT(BlockOn(std::move(response)),
              StatusIs(absl::StatusCode::kResourceExhausted, "no room"));
  EXPECT_THAT(BlockOn(writer.Send(MakeText("a"))),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ClientStreamTest, ASlowHandlerStopsTheClient) {
  constexpr int kMessages = 500;
  absl::Notification read;
  service().concat = [&](auto* context, auto* response) {
    return ServeClientStream<echo::Text>(
        handle(), context,
        [&, response](Reader<echo::Text> reader) -> Co<absl::Status> {
          while (!read.HasBeenNotified()) co_await Sleep(absl::Milliseconds(1));
          int count = 0;
          while (co_await Next(reader)) ++count;
          response->set_number(count);
          co_return absl::OkStatus();
        });
  };
  auto [writer, response] = Call(stub(), &Async::Concat);
  std::atomic<int> sent = 0;
  auto sender = handle().Spawn([&, &writer = writer]() -> Co<absl::Status> {
    for (int i = 0; i < kMessages; ++i) {
      const absl::Status status =
          co_await writer.Send(MakeText(std::string(64 << 10, 'x')));
      if (!status.ok()) co_return status;
      ++sent;
    }
    co_return co_await writer.Close();
  });
  EXPECT_LT(Settled(sent), kMessages - 100) << "the messages wait in memory";
  read.Notify();
  EXPECT_THAT(BlockOn(std::move(sender)), IsOk());
  EXPECT_EQ(BlockOn(std::move(response))->number(), kMessages);
}

class BidiStreamTest : public EchoTest {
 protected:
  BidiStreamTest() {
    service().chat = [this](auto* context) {
      return ServeBidiStream<echo::Text, echo::Text>(
          handle(), context,
          [this](Reader<echo::Text> reader,
                 Writer<echo::Text> writer) -> Co<absl::Status> {
            ++alive_;
            begun_ = true;
            const auto count = [this](void*) { --alive_; };
            const std::unique_ptr<void, decltype(count)> guard(this, count);
            co_return co_await EchoAll(std::move(reader), std::move(writer));
          });
    };
  }

  void WaitForTheHandlersToEnd() {
    while (!begun_ || alive_ > 0) BlockOn(Sleep(absl::Milliseconds(1)));
  }

  std::atomic<int> alive_ = 0;
  std::atomic<bool> begun_ = false;
};

TEST_F(BidiStreamTest, BothDirectionsAreIndependent) {
  auto [writer, reader] = Call(stub(), &Async::Chat);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(BlockOn(writer.Send(MakeText("", i))), IsOk());
    EXPECT_EQ((**BlockOn(Next(reader))).number(), i);
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(BlockOn(writer.Send(MakeText("", i))), IsOk());
  }
  EXPECT_THAT(BlockOn(writer.Close()), IsOk());
  absl::Status status;
  EXPECT_EQ(BlockOn(Numbers(reader, &status)).size(), 10);
  EXPECT_THAT(status, IsOk());
}

TEST_F(BidiStreamTest, DifferentTasksCanUseTheDirections) {
  auto [writer, reader] = Call(stub(), &Async::Chat);
  auto sender = handle().Spawn([&, &writer = writer]() -> Co<absl::Status> {
    for (int i = 0; i < 1000; ++i) {
      const absl::Status status = co_await writer.Send(MakeText("", i));
      if (!status.ok()) co_return status;
    }
    co_return co_await writer.Close();
  });
  absl::Status status;
  const std::vector<int> numbers = BlockOn(Numbers(reader, &status));
  EXPECT_THAT(status, IsOk());
  ASSERT_EQ(numbers.size(), 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(numbers[i], i);
  EXPECT_THAT(BlockOn(std::move(sender)), IsOk());
}

// The writer's hold must not keep the status from the reader.
TEST_F(BidiStreamTest, TheServerCanEndTheCallWhileTheWriterIsOpen) {
  service().chat = [this](auto* context) {
    return ServeBidiStream<echo::Text, echo::Text>(
        handle(), context,
        [](Reader<echo::Text> reader,
           Writer<echo::Text> writer) -> Co<absl::Status> {
          (void)co_await Next(reader);
          (void)co_await writer.Send(MakeText("", 1));
          co_return absl::AbortedError("enough");
        });
  };
  auto [writer, reader] = Call(stub(), &Async::Chat);
  EXPECT_THAT(BlockOn(writer.Send(MakeText("", 0))), IsOk());
  absl::Status status;
  EXPECT_THAT(BlockOn(Numbers(reader, &status)), ElementsAre(1));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, "enough"));
  EXPECT_THAT(BlockOn(writer.Send(MakeText("", 2))),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(BidiStreamTest, DroppingAtEachPointEndsTheHandler) {
  for (int point = 0; point < 6; ++point) {
    SCOPED_TRACE(point);
    begun_ = false;
    {
      auto [writer, reader] = Call(stub(), &Async::Chat);
      // Otherwise the server may never see the call.
      EXPECT_THAT(BlockOn(writer.Send(MakeText("", 0))), IsOk());
      EXPECT_TRUE(BlockOn(Next(reader))->ok());
      switch (point) {
        case 0:  // idle
          break;
        case 1:  // a read is in progress
          EXPECT_TRUE(PollNextOnce(reader).IsPending());
          break;
        case 2: {  // a write is in progress
          auto send = writer.Send(MakeText(std::string(1 << 20, 'x')));
          EXPECT_TRUE(PollOnce(send).IsPending());
          break;
        }
        case 3: {  // both, and the reader goes first
          EXPECT_TRUE(PollNextOnce(reader).IsPending());
          auto send = writer.Send(MakeText(std::string(1 << 20, 'x')));
          EXPECT_TRUE(PollOnce(send).IsPending());
          auto dropped = std::move(reader);
          break;
        }
        case 4: {  // the writer goes first
          auto dropped = std::move(writer);
          break;
        }
        case 5:  // the writer is closed
          EXPECT_THAT(BlockOn(writer.Close()), IsOk());
          break;
      }
    }
    WaitForTheHandlersToEnd();
  }
}

TEST_F(BidiStreamTest, ADeadlineEndsTheReaderAndTheWriter) {
  auto [writer, reader] =
      Call(stub(), &Async::Chat, CallOptions(absl::Milliseconds(100)));
  absl::Status status;
  EXPECT_THAT(BlockOn(Numbers(reader, &status)), ElementsAre());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(BlockOn(writer.Send(MakeText("late"))),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(BidiStreamTest, ShutdownWithCallsUnderWay) {
  std::vector<BidiStream<echo::Text, echo::Text>> calls;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(Call(stub(), &Async::Chat));
    EXPECT_THAT(BlockOn(calls.back().writer.Send(MakeText("", i))), IsOk());
    EXPECT_TRUE(BlockOn(Next(calls.back().reader))->ok());
  }
  EXPECT_EQ(alive_, 50);
  Shutdown();
  EXPECT_EQ(alive_, 0);
  for (BidiStream<echo::Text, echo::Text>& call : calls) {
    const Item item = BlockOn(Next(call.reader));
    ASSERT_TRUE(item.has_value());
    EXPECT_FALSE(item->ok());
  }
}

TEST_F(BidiStreamTest, TheEndOfTheRuntimeEndsTheCalls) {
  auto [writer, reader] = Call(stub(), &Async::Chat);
  EXPECT_THAT(BlockOn(writer.Send(MakeText("", 0))), IsOk());
  EXPECT_TRUE(BlockOn(Next(reader))->ok());
  EndRuntime();
  EXPECT_EQ(alive_, 0);
  Shutdown();
}

}  // namespace
}  // namespace rouse::rpc
