// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting without a buffer, and attempts that do not wait, on streams: see
// evented_base.h.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/duplex.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/split.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/readiness_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using reactor::Interest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Result = std::optional<absl::StatusOr<size_t>>;

template <class S>
concept CanWaitToRead = requires(const S& s) { s.Readable(); };
template <class S>
concept CanWaitToWrite = requires(const S& s) { s.Writable(); };

static_assert(CanWaitToRead<TcpStream> && CanWaitToWrite<TcpStream>);
static_assert(CanWaitToRead<UnixStream> && CanWaitToWrite<UnixStream>);
static_assert(CanWaitToRead<ReadHalf<TcpStream>>);
static_assert(CanWaitToWrite<OwnedWriteHalf<UnixStream>>);
// A `Duplex` is not a socket.
static_assert(!CanWaitToRead<ReadHalf<DuplexStream>>);
static_assert(!CanWaitToWrite<WriteHalf<DuplexStream>>);

TEST_F(ReadinessTest, AStreamWaitsForBytesWithoutABuffer) {
  auto [client, server] = Connect();
  auto readable = server.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  const absl::StatusOr<reactor::ReadyGuard> guard = Run(readable);
  ASSERT_TRUE(guard.ok());
  EXPECT_TRUE(guard->ready().IsReadable());
  EXPECT_FALSE(guard->ready().IsReadClosed());
  // The wait took no bytes.
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
  EXPECT_EQ(Text(4), "ping");
}

TEST_F(ReadinessTest, ARefusedAttemptEndsTheReadiness) {
  auto [client, server] = UnixStream::Pair().value();
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  AwaitReadable(server);
  // Waiting again before the attempt does not wait.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
  // The readiness was wrong: nobody knew that these were the last bytes.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
  auto readable = server.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("!")).ok());
  EXPECT_TRUE(Run(readable).ok());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

// An object is not ready before the reactor says so.
TEST_F(ReadinessTest, AnAttemptBeforeTheFirstEventIsNotMade) {
  auto [client, server] = UnixStream::Pair().value();
  ASSERT_EQ(write(client.fd(), "x", 1), 1);
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
  Turn();
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

TEST_F(ReadinessTest, TheEndOfAStreamIsReadable) {
  auto [client, server] = Connect();
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_TRUE(Run(server.Readable()).value().ready().IsReadClosed());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 0u);
  // The end stays.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer())->value(), 0u);
}

TEST_F(ReadinessTest, AnEmptyBufferOrTextNeedsNoReadiness) {
  auto [client, server] = Connect();
  EXPECT_EQ(server.TryRead({})->value(), 0u);
  EXPECT_EQ(server.TryWrite("")->value(), 0u);
  EXPECT_EQ(server.TryReadVectored({})->value(), 0u);
  EXPECT_EQ(server.TryWriteVectored({})->value(), 0u);
}

TEST_F(ReadinessTest, AFullStreamWaitsForRoom) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(client);
  const size_t written = Fill(client);
  EXPECT_GT(written, 0u);
  const std::string_view parts[] = {"more", "parts"};
  EXPECT_EQ(client.TryWriteVectored(parts), std::nullopt);
  auto writable = client.Writable();
  ASSERT_TRUE(task_.Poll(writable).IsPending());
  for (size_t read = 0; read < written;) {
    AwaitReadable(server);
    read += server.TryRead(Buffer())->value();
  }
  EXPECT_TRUE(Run(writable).value().ready().IsWritable());
  EXPECT_EQ(client.TryWriteVectored(parts)->value(), 9u);
}

TEST_F(ReadinessTest, AnErrorOfAnAttemptNamesTheCallAndThePeer) {
  auto [client, server] = Connect();
  const SocketAddr peer = server.peer_addr().value();
  ASSERT_TRUE(client.SetLinger(absl::ZeroDuration()).ok());
  {
    const TcpStream reset = std::move(client);
  }
  AwaitReadable(server);
  const Result size = server.TryRead(Buffer());
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(size->status().message(),
              StartsWith(absl::StrCat("recv from ", peer)));
}

TEST_F(ReadinessTest, PeekingLeavesTheBytes) {
  auto [client, server] = Connect();
  EXPECT_EQ(server.TryPeek(Buffer()), std::nullopt);
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  AwaitReadable(server);
  EXPECT_EQ(server.TryPeek(Buffer())->value(), 4u);
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
}

TEST_F(ReadinessTest, EitherDirectionEndsAWaitForBoth) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(server);
  Fill(server);
  auto either = server.Ready(Interest::kReadable | Interest::kWritable);
  ASSERT_TRUE(task_.Poll(either).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  const auto guard = Run(either);
  EXPECT_TRUE(guard->ready().IsReadable());
  EXPECT_FALSE(guard->ready().IsWritable());
}

TEST_F(ReadinessTest, AllWaitersAreWokenAndOneGetsTheBytes) {
  auto [client, server] = UnixStream::Pair().value();
  auto first = server.Readable();
  auto second = server.Readable();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  ASSERT_TRUE(task_.Poll(first).IsReady());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
  ASSERT_TRUE(other_.Poll(second).IsReady());
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
}

// Neither a refused attempt nor its wait takes the place of a task's wait.
TEST_F(ReadinessTest, AnAttemptLeavesTheWaitsOfTasks) {
  auto [client, server] = UnixStream::Pair().value();
  auto read = server.Read(Buffer());
  ASSERT_TRUE(task_.Poll(read).IsPending());
  {
    // A hand-written future, which waits without a `Waiter`.
    Context cx(other_.waker());
    ASSERT_TRUE(server.PollRead(cx, Buffer()).IsPending());
  }
  char byte;
  EXPECT_EQ(server.TryRead(absl::MakeSpan(&byte, 1)), std::nullopt);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_EQ(Run(read).value(), 1u);
}

TEST_F(ReadinessTest, ADestroyedWaitLeavesNothingBehind) {
  auto [client, server] = UnixStream::Pair().value();
  {
    auto readable = server.Readable();
    ASSERT_TRUE(task_.Poll(readable).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

TEST_F(ReadinessTest, AWaitTakesAUnitOfTheBudgetAndAnAttemptTakesNone) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(client);
  {
    Context cx(task_.waker());
    for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
      auto writable = client.Writable();
      ASSERT_TRUE(writable.Poll(cx).IsReady());
      ASSERT_EQ(client.TryWrite("x")->value(), 1u);
    }
    auto writable = client.Writable();
    ASSERT_TRUE(writable.Poll(cx).IsPending());
    EXPECT_EQ(task_.wakes(), 1);
  }
}

TEST_F(ReadinessTest, TheHalvesOfAStreamHaveTheFunctionsOfTheirDirection) {
  auto [client, server] = Connect();
  auto [reader, writer] = IntoSplit(std::move(client));
  AwaitWritable(writer);
  EXPECT_EQ(writer.TryWrite("p")->value(), 1u);
  const std::string_view parts[] = {"in", "g"};
  EXPECT_EQ(writer.TryWriteVectored(parts)->value(), 3u);
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);
  const auto [server_reader, server_writer] = Split(server);
  const absl::Span<char> buffers[] = {Buffer().first(1)};
  AwaitReadable(server_reader);
  EXPECT_EQ(server_reader.TryReadVectored(buffers)->value(), 1u);
  for (size_t read = 1; read < 4;) {
    AwaitReadable(server_reader);
    read += server_reader.TryRead(Buffer())->value();
  }
  AwaitWritable(server_writer);
  EXPECT_EQ(server_writer.TryWrite("pong")->value(), 4u);
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryRead(Buffer())->value(), 4u);
}

TEST_F(ReadinessTest, AFinishedWaitIsAPanic) {
  auto [client, server] = UnixStream::Pair().value();
  auto writable = client.Writable();
  ASSERT_TRUE(Run(writable).ok());
  EXPECT_PANIC((void)task_.Poll(writable), "polled after it completed");
}

TEST_F(ReadinessTest, AShutdownOfTheReactorEndsWaitsAndAttempts) {
  auto [client, server] = UnixStream::Pair().value();
  auto readable = server.Readable();
  const auto call = []() -> ssize_t { return 1; };
  auto io = server.AsyncIo(Interest::kReadable, "recv", call);
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  ASSERT_TRUE(other_.Poll(io).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  for (const absl::Status& status :
       {(*task_.Poll(readable)).status(), (*other_.Poll(io)).status(),
        server.TryRead(Buffer())->status(), server.TryWrite("x")->status(),
        server.TryIo(Interest::kReadable, "recv", call)->status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("shut down"));
  }
}

TEST_F(ReadinessTest, AMovedFromObjectIsAFailedPrecondition) {
  auto [client, server] = UnixStream::Pair().value();
  const UnixStream moved = std::move(server);
  // NOLINTNEXTLINE(bugprone-use-after-move): tested
  EXPECT_EQ(server.TryRead(Buffer())->status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Run(server.Readable()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace rouse
