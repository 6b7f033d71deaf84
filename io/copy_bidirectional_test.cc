// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/copy_bidirectional.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/future/join.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

static_assert(Future<CopyBidirectionalFuture<DuplexStream, DuplexStream>>);

// A client and a server, each with a connection to the proxy between them.
class CopyBidirectionalTest : public IoTest {
 protected:
  std::string ReadSome(DuplexStream& stream) {
    char buffer[64];
    auto read = Read(stream, absl::MakeSpan(buffer));
    auto size = Poll(read);
    if (size.IsPending()) return "pending";
    return std::string(buffer, size->value());
  }

  std::pair<DuplexStream, DuplexStream> client_ = Duplex(16);
  std::pair<DuplexStream, DuplexStream> server_ = Duplex(16);
};

TEST_F(CopyBidirectionalTest, CopiesBothDirectionsUntilBothEnd) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  auto proxy = CopyBidirectional(a, b);
  ASSERT_TRUE(Poll(proxy).IsPending());

  ASSERT_TRUE(Run(WriteAll(client, "request")).ok());
  EXPECT_EQ(task_.wakes(), 1);
  ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_EQ(ReadSome(server), "request");
  ASSERT_TRUE(Run(Shutdown(client)).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_EQ(ReadSome(server), "");

  // The opposite direction continues.
  ASSERT_TRUE(Run(WriteAll(server, "answer")).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_EQ(ReadSome(client), "answer");
  EXPECT_EQ(ReadSome(client), "pending");
  ASSERT_TRUE(Run(Shutdown(server)).ok());
  const auto copied = Poll(proxy);
  ASSERT_TRUE(copied.IsReady());
  EXPECT_EQ((*copied)->a_to_b, 7u);
  EXPECT_EQ((*copied)->b_to_a, 6u);
  EXPECT_EQ(ReadSome(client), "");
}

TEST_F(CopyBidirectionalTest, AFullDirectionDoesNotBlockTheOther) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  auto proxy = CopyBidirectional(a, b);
  // The block is larger than the server's side holds.
  const std::string block(16, 'x');
  ASSERT_TRUE(Run(WriteAll(client, block)).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  ASSERT_TRUE(Run(WriteAll(client, block)).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  ASSERT_TRUE(Run(WriteAll(server, "answer")).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_EQ(ReadSome(client), "answer");
  EXPECT_EQ(ReadSome(server), block);
  ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_EQ(ReadSome(server), block);
}

TEST_F(CopyBidirectionalTest, AnErrorEndsBothDirections) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  auto proxy = CopyBidirectional(a, b);
  ASSERT_TRUE(Run(WriteAll(client, "request")).ok());
  ASSERT_TRUE(Poll(proxy).IsPending());
  {
    DuplexStream dropped = std::move(server);
  }
  // The end of the server's stream goes to the client; a write to the server
  // fails.
  ASSERT_TRUE(Run(WriteAll(client, "another")).ok());
  EXPECT_EQ(Poll(proxy)->status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(proxy.copied().a_to_b, 7u);
}

TEST_F(CopyBidirectionalTest, AnErrorOfTheSecondDirectionEndsBoth) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  auto proxy = CopyBidirectional(a, b);
  ASSERT_TRUE(Poll(proxy).IsPending());
  {
    DuplexStream dropped = std::move(client);
  }
  ASSERT_TRUE(Run(WriteAll(server, "answer")).ok());
  EXPECT_EQ(Poll(proxy)->status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(CopyBidirectionalTest, ACancelledCopyIsNotWoken) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  {
    auto proxy = CopyBidirectional(a, b);
    ASSERT_TRUE(Poll(proxy).IsPending());
    EXPECT_EQ(task_.live(), 2);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(WriteAll(client, "request")).ok());
  ASSERT_TRUE(Run(WriteAll(server, "answer")).ok());
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(CopyBidirectionalTest, ACancelledCopyLosesNothingOfBufReaders) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  BufReader buffered_a(a);
  BufReader buffered_b(b);
  const std::string block(16, 'x');
  ASSERT_TRUE(Run(WriteAll(b, block)).ok());  // so no room is left
  ASSERT_TRUE(Run(WriteAll(client, "request")).ok());
  {
    auto proxy = CopyBidirectional(buffered_a, buffered_b);
    ASSERT_TRUE(Poll(proxy).IsPending());
  }
  EXPECT_EQ(buffered_a.buffered(), "request");
}

// Always has bytes to read and room to write, if the budget permits.
class Endless {
 public:
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    return Take(cx, buffer.size());
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    return Take(cx, data.size());
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    return Take(cx, parts.empty() ? 0 : parts.front().size());
  }
  PollResult<absl::Status> PollFlush(Context&) { return absl::OkStatus(); }
  PollResult<absl::Status> PollShutdown(Context&) { return absl::OkStatus(); }

 private:
  static PollResult<absl::StatusOr<size_t>> Take(Context& cx, size_t size) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<size_t>(size);
  }
};

TEST_F(CopyBidirectionalTest, NeitherDirectionStarvesTheOther) {
  Endless a;
  Endless b;
  auto proxy = CopyBidirectional(a, b);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Poll(proxy).IsPending());
  EXPECT_GT(proxy.copied().a_to_b, 0u);
  EXPECT_GT(proxy.copied().b_to_a, 0u);
}

// Each proxy has the budget of every other poll.
TEST_F(CopyBidirectionalTest,
       NeitherDirectionStarvesTheOtherBesideAnotherProxy) {
  Endless ends[4];
  auto one = CopyBidirectional(ends[0], ends[1]);
  auto two = CopyBidirectional(ends[2], ends[3]);
  auto both = Join(one, two);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Poll(both).IsPending());
  EXPECT_GT(one.copied().a_to_b, 0u);
  EXPECT_GT(one.copied().b_to_a, 0u);
  EXPECT_GT(two.copied().a_to_b, 0u);
  EXPECT_GT(two.copied().b_to_a, 0u);
}

TEST_F(CopyBidirectionalTest, PollingACompleteCopyPanics) {
  auto& [client, a] = client_;
  auto& [b, server] = server_;
  ASSERT_TRUE(Run(Shutdown(client)).ok());
  ASSERT_TRUE(Run(Shutdown(server)).ok());
  auto proxy = CopyBidirectional(a, b);
  ASSERT_TRUE(Poll(proxy).IsReady());
  EXPECT_PANIC((void)Poll(proxy), "CopyBidirectional was polled after");
}

}  // namespace
}  // namespace rouse
