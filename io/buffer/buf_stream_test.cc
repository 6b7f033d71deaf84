// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/buffer/buf_stream.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncBufRead<BufStream<DuplexStream>>);
static_assert(AsyncWrite<BufStream<DuplexStream>>);
static_assert(AsyncBufRead<BufStream<const DuplexStream&>&>);
// docs/guide/io.md states the size.
static_assert(sizeof(BufStream<DuplexStream&>) ==
              sizeof(DuplexStream*) + 8 * sizeof(void*));

class BufStreamTest : public IoTest {
 protected:
  char buffer_[64];
};

TEST_F(BufStreamTest, RefersToAnLvalueAndOwnsAnRvalue) {
  auto [near, far] = Duplex(64);
  BufStream refers(near);
  static_assert(std::is_same_v<decltype(refers), BufStream<DuplexStream&>>);
  EXPECT_EQ(&refers.inner(), &near);
  BufStream owns(std::move(near), 16, 16);
  static_assert(std::is_same_v<decltype(owns), BufStream<DuplexStream>>);
  ASSERT_TRUE(Run(WriteAll(far, "x")).ok());
  const DuplexStream back = std::move(owns).IntoInner();
  EXPECT_EQ(Run(Read(back, absl::MakeSpan(buffer_))).value(), 1u);
}

TEST_F(BufStreamTest, BuffersBothDirections) {
  auto [near, far] = Duplex(64);
  BufStream stream(std::move(near));
  ASSERT_TRUE(Run(WriteAll(far, "one\ntwo\n")).ok());
  std::string line;
  EXPECT_TRUE(Run(ReadLine(stream, line)).value());
  EXPECT_EQ(line, "one");
  EXPECT_EQ(stream.read_buffered(), "two\n");
  ASSERT_TRUE(Run(WriteAll(stream, "an")).ok());
  const std::string_view parts[] = {"sw", "er"};
  ASSERT_EQ(Run(WriteVectored(stream, parts)).value(), 4u);
  EXPECT_EQ(stream.write_buffered(), "answer");
  auto early = Read(far, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(early).IsPending());
  ASSERT_TRUE(Run(Flush(stream)).ok());
  EXPECT_EQ(stream.write_buffered(), "");
  EXPECT_EQ(Run(early).value(), 6u);
  // The flush has left the other direction alone.
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer_, 2))).value(), 2u);
  EXPECT_EQ(stream.read_buffered(), "o\n");
  Context cx(task_.waker());
  EXPECT_EQ(stream.PollFillBuf(cx)->value(), "o\n");
  stream.Consume(2);
  ASSERT_TRUE(Run(Shutdown(stream)).ok());
  std::string rest;
  EXPECT_EQ(Run(ReadToEnd(far, rest)).value(), 0u);
}

TEST_F(BufStreamTest, CapacitiesAreSeparate) {
  auto [near, far] = Duplex(64);
  BufStream stream(near, 2, 4);
  ASSERT_TRUE(Run(WriteAll(far, "abcd")).ok());
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer_, 1))).value(), 1u);
  EXPECT_EQ(stream.read_buffered(), "b");
  ASSERT_TRUE(Run(WriteAll(stream, "xyz")).ok());
  EXPECT_EQ(stream.write_buffered(), "xyz");
  // At least as large as the buffer: passed on at once.
  ASSERT_TRUE(Run(WriteAll(stream, "0123")).ok());
  EXPECT_EQ(stream.write_buffered(), "");
  EXPECT_EQ(Run(Read(far, absl::MakeSpan(buffer_))).value(), 7u);
}

TEST_F(BufStreamTest, ADestroyedFutureLosesNothing) {
  auto [near, far] = Duplex(2);
  BufStream stream(near, 8, 4);
  ASSERT_TRUE(Run(WriteAll(stream, "abc")).ok());
  {
    auto flush = Flush(stream);
    ASSERT_TRUE(Poll(flush).IsPending());
  }
  {
    auto read = Read(stream, absl::MakeSpan(buffer_, 4));
    ASSERT_TRUE(Poll(read).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  EXPECT_EQ(Run(Read(far, absl::MakeSpan(buffer_))).value(), 2u);
  ASSERT_TRUE(Run(Flush(stream)).ok());
  EXPECT_EQ(Run(Read(far, absl::MakeSpan(buffer_))).value(), 1u);
  ASSERT_TRUE(Run(WriteAll(far, "d")).ok());
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer_))).value(), 1u);
}

TEST_F(BufStreamTest, CanBeMovedWithItsBuffers) {
  auto [near, far] = Duplex(64);
  BufStream stream(std::move(near));
  ASSERT_TRUE(Run(WriteAll(far, "ab")).ok());
  ASSERT_EQ(Run(Read(stream, absl::MakeSpan(buffer_, 1))).value(), 1u);
  ASSERT_TRUE(Run(WriteAll(stream, "xy")).ok());
  BufStream moved = std::move(stream);
  EXPECT_EQ(moved.read_buffered(), "b");
  EXPECT_EQ(moved.write_buffered(), "xy");
}

TEST_F(BufStreamTest, AnErrorIsPassedOn) {
  auto [near, far] = Duplex(64);
  BufStream stream(std::move(near));
  ASSERT_TRUE(Run(WriteAll(stream, "x")).ok());
  {
    DuplexStream closed = std::move(far);
  }
  EXPECT_EQ(Run(Flush(stream)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer_))).value(), 0u);
}

TEST_F(BufStreamTest, NeedsCapacity) {
  auto [near, far] = Duplex(1);
  EXPECT_PANIC(BufStream(near, 0), "BufReader: the capacity is 0");
  EXPECT_PANIC(BufStream(near, 1, 0), "BufWriter: the capacity is 0");
}

TEST_F(BufStreamTest, ReadsIntoSeveralBuffers) {
  auto [near, far] = Duplex(64);
  BufStream stream(std::move(near));
  ASSERT_TRUE(Run(WriteAll(far, "abcd")).ok());
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 1),
                                      absl::MakeSpan(buffer_ + 8, 2)};
  EXPECT_EQ(Run(ReadVectored(stream, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_ + 8, 2), "bc");
  EXPECT_EQ(stream.read_buffered(), "d");
}

}  // namespace
}  // namespace rouse
