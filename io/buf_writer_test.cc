// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/buf_writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncWrite<BufWriter<ScriptedWriter>>);
static_assert(!AsyncRead<BufWriter<ScriptedWriter>>);
static_assert(AsyncRead<BufWriter<DuplexStream>>);
static_assert(!AsyncBufRead<BufWriter<DuplexStream>>);
static_assert(AsyncBufRead<BufWriter<BufReader<DuplexStream>>>);
// docs/guide/io.md states the size.
static_assert(sizeof(BufWriter<ScriptedWriter&>) ==
              sizeof(ScriptedWriter*) + 4 * sizeof(void*));

class BufWriterTest : public IoTest {
 protected:
  ScriptedWriter stream_;
};

TEST_F(BufWriterTest, RefersToAnLvalueAndOwnsAnRvalue) {
  BufWriter refers(stream_);
  static_assert(std::is_same_v<decltype(refers), BufWriter<ScriptedWriter&>>);
  EXPECT_EQ(&refers.inner(), &stream_);
  BufWriter owns(ScriptedWriter(), 2);
  static_assert(std::is_same_v<decltype(owns), BufWriter<ScriptedWriter>>);
  ASSERT_TRUE(Run(WriteAll(owns, "abc")).ok());
  EXPECT_EQ(std::move(owns).IntoInner().written(), "abc");
}

TEST_F(BufWriterTest, ManySmallWritesBecomeOneWrite) {
  BufWriter writer(stream_, 4);
  ASSERT_TRUE(Run(WriteAll(writer, "a")).ok());
  ASSERT_TRUE(Run(WriteAll(writer, "bcd")).ok());
  EXPECT_EQ(stream_.writes(), 0);
  EXPECT_EQ(writer.buffered(), "abcd");
  ASSERT_TRUE(Run(WriteAll(writer, "e")).ok());
  EXPECT_EQ(stream_.written(), "abcd");
  EXPECT_EQ(stream_.writes(), 1);
  EXPECT_EQ(stream_.flushed(), 0u);
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(stream_.written(), "abcde");
  EXPECT_EQ(stream_.flushed(), 5u);
  EXPECT_EQ(writer.buffered(), "");
}

TEST_F(BufWriterTest, ALargeWriteBypassesTheBuffer) {
  BufWriter writer(stream_, 4);
  ASSERT_TRUE(Run(WriteAll(writer, "ab")).ok());
  ASSERT_TRUE(Run(WriteAll(writer, "cdefgh")).ok());
  EXPECT_EQ(stream_.written(), "abcdefgh");
  EXPECT_EQ(stream_.writes(), 2);
}

TEST_F(BufWriterTest, AWriteAsLargeAsTheBufferBypassesIt) {
  BufWriter writer(stream_, 4);
  ASSERT_TRUE(Run(WriteAll(writer, "abcd")).ok());
  EXPECT_EQ(stream_.written(), "abcd");
  EXPECT_EQ(writer.buffered(), "");
  const std::string_view parts[] = {"ef", "gh"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 4u);
  EXPECT_EQ(stream_.written(), "abcdefgh");
  // The same holds behind other bytes.
  ASSERT_TRUE(Run(WriteAll(writer, "i")).ok());
  ASSERT_TRUE(Run(WriteAll(writer, "jklm")).ok());
  EXPECT_EQ(stream_.written(), "abcdefghijklm");
  EXPECT_EQ(stream_.writes(), 4);
}

TEST_F(BufWriterTest, AWriteOneByteSmallerIsBuffered) {
  BufWriter writer(stream_, 4);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  EXPECT_EQ(writer.buffered(), "abc");
  EXPECT_EQ(stream_.writes(), 0);
}

TEST_F(BufWriterTest, PartsAreGatheredOrPassedOnTogether) {
  BufWriter writer(stream_, 4);
  const std::string_view small[] = {"a", "", "b"};
  EXPECT_EQ(Run(WriteVectored(writer, small)).value(), 2u);
  EXPECT_EQ(writer.buffered(), "ab");
  const std::string_view large[] = {"cde", "fgh"};
  EXPECT_EQ(Run(WriteVectored(writer, large)).value(), 6u);
  EXPECT_EQ(stream_.written(), "abcdefgh");
  EXPECT_EQ(stream_.writes(), 2);
}

TEST_F(BufWriterTest, ShortWritesAreRepeated) {
  stream_.TakeAtMost(1);
  stream_.BePendingInTurns();
  BufWriter writer(stream_, 4);
  for (const std::string_view part : {"ab", "cde", "f", "ghijklm"}) {
    ASSERT_TRUE(Run(WriteAll(writer, part)).ok());
  }
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(stream_.written(), "abcdefghijklm");
}

TEST_F(BufWriterTest, AFlushThatIsDestroyedLosesNothing) {
  stream_.TakeAtMost(2);
  stream_.BePendingInTurns();
  BufWriter writer(stream_, 8);
  ASSERT_TRUE(Run(WriteAll(writer, "abcde")).ok());
  {
    auto flush = Flush(writer);
    ASSERT_TRUE(Poll(flush).IsPending());
    ASSERT_TRUE(Poll(flush).IsPending());
  }
  EXPECT_EQ(stream_.written(), "ab");
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(stream_.written(), "abcde");
}

TEST_F(BufWriterTest, AShutdownWritesTheRestFirst) {
  BufWriter writer(stream_);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  ASSERT_TRUE(Run(Shutdown(writer)).ok());
  EXPECT_EQ(stream_.written(), "abc");
  EXPECT_TRUE(stream_.is_shut_down());
}

TEST_F(BufWriterTest, AnErrorIsPassedOnAndLeavesTheBuffer) {
  BufWriter writer(stream_, 4);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  stream_.Error(absl::UnavailableError("1"));
  EXPECT_EQ(Run(Flush(writer)), absl::UnavailableError("1"));
  stream_.Error(absl::UnavailableError("2"));
  EXPECT_EQ(Run(Write(writer, "de")).status(), absl::UnavailableError("2"));
  stream_.Error(absl::UnavailableError("3"));
  EXPECT_EQ(Run(Shutdown(writer)), absl::UnavailableError("3"));
  EXPECT_EQ(writer.buffered(), "abc");
  EXPECT_FALSE(stream_.is_shut_down());
}

TEST_F(BufWriterTest, AStreamThatAcceptsNoByteIsInternal) {
  stream_.TakeAtMost(0);
  BufWriter writer(stream_);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  EXPECT_EQ(Run(Flush(writer)).code(), absl::StatusCode::kInternal);
}

TEST_F(BufWriterTest, PassesReadsOn) {
  auto [near, far] = Duplex(16);
  ASSERT_TRUE(Run(WriteAll(far, "one\ntwo")).ok());
  BufWriter stream{BufReader(near)};
  std::string line;
  EXPECT_TRUE(Run(ReadLine(stream, line)).value());
  EXPECT_EQ(line, "one");
  char buffer[8];
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer))).value(), 3u);
}

// R13: writes to the buffer also count.
TEST_F(BufWriterTest, AnEmptyBufferLetsOtherTasksRun) {
  BufWriter writer(stream_);
  Context cx(task_.waker());
  uint32_t writes = 0;
  while (writer.PollWrite(cx, "x").IsReady()) ++writes;
  EXPECT_EQ(writes, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(BufWriterTest, ACapacityOfZeroPanics) {
  EXPECT_PANIC(BufWriter(stream_, 0), "BufWriter: the capacity is 0");
}

TEST_F(BufWriterTest, PassesVectoredReadsOn) {
  auto [near, far] = Duplex(16);
  BufWriter writer(std::move(near));
  ASSERT_TRUE(Run(WriteAll(far, "abc")).ok());
  char first[1];
  char second[4];
  const absl::Span<char> buffers[] = {absl::MakeSpan(first),
                                      absl::MakeSpan(second)};
  EXPECT_EQ(Run(ReadVectored(writer, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(second, 2), "bc");
}

}  // namespace
}  // namespace rouse
