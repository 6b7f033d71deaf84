// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/copy.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<CopyFuture<ScriptedReader, ScriptedWriter>>);

class CopyTest : public IoTest {
 protected:
  ScriptedReader reader_;
  ScriptedWriter writer_;
};

TEST_F(CopyTest, CopiesAllBytesAndFlushes) {
  reader_.Bytes("abc").Pending().Bytes("def");
  EXPECT_EQ(Run(Copy(reader_, writer_)).value(), 6u);
  EXPECT_EQ(writer_.written(), "abcdef");
  EXPECT_EQ(writer_.flushed(), 6u);
  EXPECT_FALSE(writer_.is_shut_down());
}

TEST_F(CopyTest, CopiesAnEmptyStream) {
  EXPECT_EQ(Run(Copy(reader_, writer_)).value(), 0u);
}

TEST_F(CopyTest, CopiesMoreThanItsBufferWithShortWrites) {
  std::string sent(100'000, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  reader_.Bytes(sent);
  writer_.TakeAtMost(1000);
  writer_.BePendingInTurns();
  EXPECT_EQ(Run(Copy(reader_, writer_)).value(), sent.size());
  EXPECT_EQ(writer_.written(), sent);
}

// Otherwise a reader that waits for the bytes, and answers, would wait forever.
TEST_F(CopyTest, FlushesReadBytesWhileWaitingForMore) {
  reader_.Bytes("abc").Pending(/*wakes=*/false);
  BufWriter buffered(writer_);
  auto copy = Copy(reader_, buffered);
  EXPECT_TRUE(Poll(copy).IsPending());
  EXPECT_EQ(writer_.written(), "abc");
  EXPECT_EQ(writer_.flushed(), 3u);
  EXPECT_EQ(copy.copied(), 3u);
}

TEST_F(CopyTest, ErrorsOfReaderAndWriterArePassedOn) {
  reader_.Bytes("abc").Error(absl::UnavailableError("read"));
  EXPECT_EQ(Run(Copy(reader_, writer_)).status(),
            absl::UnavailableError("read"));
  EXPECT_EQ(writer_.written(), "abc");
  reader_.Bytes("def");
  writer_.Error(absl::UnavailableError("write"));
  EXPECT_EQ(Run(Copy(reader_, writer_)).status(),
            absl::UnavailableError("write"));
}

TEST_F(CopyTest, AnErrorOfAFlushIsPassedOn) {
  reader_.Bytes("abc").Pending(/*wakes=*/false);
  BufWriter buffered(writer_);
  writer_.Error(absl::UnavailableError("write"));
  EXPECT_EQ(Run(Copy(reader_, buffered)).status(),
            absl::UnavailableError("write"));
}

TEST_F(CopyTest, AWriterThatAcceptsNoByteIsInternal) {
  reader_.Bytes("abc");
  writer_.TakeAtMost(0);
  EXPECT_EQ(Run(Copy(reader_, writer_)).status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(CopyTest, ACancelledCopyLosesNothingOfABufReader) {
  reader_.Bytes("abcdef");
  writer_.TakeAtMost(2);
  writer_.BePendingInTurns();
  BufReader buffered(reader_);
  {
    auto copy = Copy(buffered, writer_);
    ASSERT_TRUE(Poll(copy).IsPending());
    ASSERT_TRUE(Poll(copy).IsPending());
    EXPECT_EQ(copy.copied(), 2u);
  }
  EXPECT_EQ(buffered.buffered(), "cdef");
  EXPECT_EQ(Run(Copy(buffered, writer_)).value(), 4u);
  EXPECT_EQ(writer_.written(), "abcdef");
}

TEST_F(CopyTest, ACopyAfterACancelledCopyFlushes) {
  BufWriter buffered(writer_);
  BufReader reader(reader_.Bytes("abc"));
  {
    writer_.Block();
    auto copy = Copy(reader, buffered);
    ASSERT_TRUE(Poll(copy).IsPending());
    EXPECT_EQ(copy.copied(), 3u);
    writer_.Block(false);
  }
  EXPECT_EQ(Run(Copy(reader, buffered)).value(), 0u);
  EXPECT_EQ(writer_.written(), "abc");
}

// R13.
TEST_F(CopyTest, AStreamThatIsNeverEmptyLetsOtherTasksRun) {
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) reader_.Bytes("x");
  auto copy = Copy(reader_, writer_);
  EXPECT_TRUE(Poll(copy).IsPending());
  EXPECT_GE(task_.wakes(), 1);
  EXPECT_LE(copy.copied(), kBudgetPerPoll);
  EXPECT_EQ(Run(copy).value(), 2 * kBudgetPerPoll);
}

TEST_F(CopyTest, PollingACompleteCopyPanics) {
  auto copy = Copy(reader_, writer_);
  ASSERT_TRUE(Poll(copy).IsReady());
  EXPECT_PANIC((void)Poll(copy), "Copy was polled after");
}

}  // namespace
}  // namespace rouse
