// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/duplex.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(AsyncRead<const DuplexStream>);
static_assert(AsyncWrite<const DuplexStream>);
// docs/guide/io.md states the size.
static_assert(sizeof(DuplexStream) == 4 * sizeof(void*));

class DuplexTest : public IoTest {
 protected:
  CountingWaker other_task_;
  BorrowedWaker other_{other_task_.raw()};
  char buffer_[64];
};

TEST_F(DuplexTest, TransfersBytesBothWays) {
  auto [a, b] = Duplex(16);
  EXPECT_EQ(Run(Write(a, "ping")).value(), 4u);
  EXPECT_EQ(Run(Write(b, "pong!")).value(), 5u);
  EXPECT_EQ(Run(Read(b, absl::MakeSpan(buffer_))).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "ping");
  EXPECT_EQ(Run(Read(a, absl::MakeSpan(buffer_))).value(), 5u);
  EXPECT_EQ(std::string_view(buffer_, 5), "pong!");
}

TEST_F(DuplexTest, AReadWaitsForAWrite) {
  auto [a, b] = Duplex(16);
  auto read = Read(b, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(Run(Write(a, "x")).value(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(read)->value(), 1u);
}

TEST_F(DuplexTest, AWriteWaitsForRoom) {
  auto [a, b] = Duplex(4);
  EXPECT_EQ(Run(Write(a, "abcdef")).value(), 4u);
  auto write = Write(a, "ef");
  ASSERT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(Run(Read(b, absl::MakeSpan(buffer_, 1))).value(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(write)->value(), 1u);
  // The bytes are in order, even around the end of the buffer.
  EXPECT_TRUE(Run(ReadExact(b, absl::MakeSpan(buffer_, 4))).ok());
  EXPECT_EQ(std::string_view(buffer_, 4), "bcde");
}

TEST_F(DuplexTest, PartsArriveInOrder) {
  auto [a, b] = Duplex(4);
  const std::string_view parts[] = {"ab", "", "cd", "ef"};
  EXPECT_EQ(Run(WriteVectored(a, parts)).value(), 4u);
  EXPECT_EQ(Run(Read(b, absl::MakeSpan(buffer_))).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "abcd");
}

TEST_F(DuplexTest, AnEmptyReadIsNotTheEnd) {
  auto [a, b] = Duplex(4);
  EXPECT_EQ(Run(Read(a, {})).value(), 0u);
  EXPECT_EQ(Run(Write(a, "")).value(), 0u);
  ASSERT_TRUE(Run(WriteAll(a, "abcd")).ok());
  EXPECT_EQ(Run(Write(a, "")).value(), 0u);
}

TEST_F(DuplexTest, AShutdownEndsTheOtherSidesReads) {
  auto [a, b] = Duplex(16);
  ASSERT_TRUE(Run(WriteAll(a, "last")).ok());
  auto read = Read(a, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  ASSERT_TRUE(Run(Shutdown(a)).ok());
  ASSERT_TRUE(Run(Shutdown(a)).ok());
  EXPECT_EQ(Run(Write(a, "x")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(b, all)).value(), 4u);
  EXPECT_EQ(all, "last");
  // The opposite direction still works.
  EXPECT_EQ(Run(Write(b, "x")).value(), 1u);
  EXPECT_EQ(Poll(read)->value(), 1u);
}

TEST_F(DuplexTest, DestroyingAnEndWakesReaderAndWriter) {
  auto [a, b] = Duplex(2);
  ASSERT_TRUE(Run(WriteAll(a, "xy")).ok());
  auto read = Read(a, absl::MakeSpan(buffer_));
  auto write = Write(a, "z");
  ASSERT_TRUE(Poll(read).IsPending());
  ASSERT_TRUE(Poll(write).IsPending());
  {
    DuplexStream dropped = std::move(b);
  }
  EXPECT_EQ(task_.wakes(), 2);
  EXPECT_EQ(Poll(read)->value(), 0u);
  EXPECT_EQ(Poll(write)->status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(DuplexTest, AssignmentClosesTheOldEnd) {
  auto [a, b] = Duplex(4);
  auto [c, d] = Duplex(4);
  ASSERT_TRUE(Run(WriteAll(d, "x")).ok());
  a = std::move(c);
  EXPECT_EQ(Run(Read(b, absl::MakeSpan(buffer_))).value(), 0u);
  EXPECT_EQ(Run(Read(a, absl::MakeSpan(buffer_))).value(), 1u);
}

TEST_F(DuplexTest, ADestroyedFutureIsNotWoken) {
  auto [a, b] = Duplex(1);
  ASSERT_TRUE(Run(WriteAll(a, "x")).ok());
  {
    auto read = Read(a, absl::MakeSpan(buffer_));
    auto write = Write(a, "z");
    ASSERT_TRUE(Poll(read).IsPending());
    ASSERT_TRUE(Poll(write).IsPending());
    EXPECT_EQ(task_.live(), 2);
  }
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(DuplexTest, TheLastOfTwoReadersIsWoken) {
  auto [a, b] = Duplex(16);
  auto first = Read(b, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(first).IsPending());
  {
    auto last = Read(b, absl::MakeSpan(buffer_));
    Context cx(other_.get());
    ASSERT_TRUE(last.Poll(cx).IsPending());
    EXPECT_EQ(task_.live(), 0);
    EXPECT_EQ(Run(Write(a, "x")).value(), 1u);
    EXPECT_EQ(other_task_.wakes(), 1);
  }
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(DuplexTest, AReplacedFutureRemovesOnlyItsOwnWaker) {
  auto [a, b] = Duplex(16);
  char buffer[1];
  auto last = Read(b, absl::MakeSpan(buffer));
  {
    auto first = Read(b, absl::MakeSpan(buffer_));
    Context cx(other_.get());
    ASSERT_TRUE(first.Poll(cx).IsPending());
    ASSERT_TRUE(Poll(last).IsPending());
  }
  EXPECT_EQ(Run(Write(a, "x")).value(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
}

// R13.
TEST_F(DuplexTest, AStreamThatIsNeverEmptyLetsOtherTasksRun) {
  auto [a, b] = Duplex(size_t{2} * kBudgetPerPoll);
  Context writing(task_.waker());
  uint32_t writes = 0;
  while (a.PollWrite(writing, "x").IsReady()) ++writes;
  EXPECT_EQ(writes, kBudgetPerPoll);
  ASSERT_TRUE(Run(WriteAll(a, "x")).ok());
  Context reading(task_.waker());
  uint32_t reads = 0;
  while (b.PollRead(reading, absl::MakeSpan(buffer_, 1)).IsReady()) ++reads;
  EXPECT_EQ(reads, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 2);
}

TEST_F(DuplexTest, WritesWithoutAReaderLetOtherTasksRun) {
  auto ends = std::make_optional(Duplex(8));
  DuplexStream a = std::move(ends->first);
  ends.reset();
  Context cx(task_.waker());
  uint32_t errors = 0;
  while (a.PollWrite(cx, "x").IsReady()) ++errors;
  EXPECT_EQ(errors, kBudgetPerPoll);
}

// The sanitizers check this, too.
TEST_F(DuplexTest, TheEndsCanBeOnDifferentThreads) {
  std::string sent(200'000, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  auto [a, b] = Duplex(61);
  std::thread echo([end = std::move(b)] {
    const auto copied = BlockOn(Copy(end, end));
    EXPECT_EQ(copied.value(), 200'000u);
  });
  std::thread writer([&end = a, &sent] {
    EXPECT_TRUE(BlockOn(WriteAll(end, sent)).ok());
    EXPECT_TRUE(BlockOn(Shutdown(end)).ok());
  });
  std::string received;
  EXPECT_TRUE(BlockOn(ReadToEnd(a, received, sent.size())).ok());
  EXPECT_EQ(received, sent);
  writer.join();
  echo.join();
}

TEST_F(DuplexTest, MisusePanics) {
  EXPECT_PANIC(Duplex(0), "Duplex: the capacity is 0");
  auto [a, b] = Duplex(1);
  auto read = Read(b, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  EXPECT_PANIC(auto moved = std::move(read), "moved after it was polled");
}

TEST_F(DuplexTest, AReadFillsSeveralBuffersInOrder) {
  auto [a, b] = Duplex(8);
  static_assert(AsyncReadVectored<const DuplexStream>);
  // The bytes go around the end of the pipe's buffer.
  ASSERT_TRUE(Run(WriteAll(a, "......")).ok());
  ASSERT_TRUE(Run(ReadExact(b, absl::MakeSpan(buffer_, 6))).ok());
  ASSERT_TRUE(Run(WriteAll(a, "abcdef")).ok());
  const absl::Span<char> buffers[] = {
      absl::MakeSpan(buffer_, 1), absl::Span<char>(),
      absl::MakeSpan(buffer_ + 8, 3), absl::MakeSpan(buffer_ + 16, 8)};
  EXPECT_EQ(Run(ReadVectored(b, buffers)).value(), 6u);
  EXPECT_EQ(std::string_view(buffer_, 1), "a");
  EXPECT_EQ(std::string_view(buffer_ + 8, 3), "bcd");
  EXPECT_EQ(std::string_view(buffer_ + 16, 2), "ef");
  auto read = ReadVectored(b, buffers);
  ASSERT_TRUE(Poll(read).IsPending());
  ASSERT_TRUE(Run(Shutdown(a)).ok());
  EXPECT_EQ(Poll(read)->value(), 0u);
  EXPECT_EQ(
      Run(ReadVectored(b, absl::MakeConstSpan(buffers).subspan(1, 1))).value(),
      0u);
}

}  // namespace
}  // namespace rouse
