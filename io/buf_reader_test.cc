// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/buf_reader.h"

#include <cstddef>
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
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncBufRead<BufReader<ScriptedReader>>);
static_assert(AsyncBufRead<BufReader<ScriptedReader&>&>);
static_assert(!AsyncWrite<BufReader<ScriptedReader>>);
static_assert(AsyncWrite<BufReader<DuplexStream>>);
// docs/guide/io.md states the size.
static_assert(sizeof(BufReader<ScriptedReader&>) ==
              sizeof(ScriptedReader*) + 4 * sizeof(void*));

class BufReaderTest : public IoTest {
 protected:
  // Returns the bytes in the buffer, after filling the buffer if it was empty.
  template <class R>
  std::string Peek(R& reader) {
    Context cx(task_.waker());
    return std::string(reader.PollFillBuf(cx)->value());
  }

  char buffer_[16];
};

TEST_F(BufReaderTest, RefersToAnLvalueAndOwnsAnRvalue) {
  ScriptedReader stream("abc");
  BufReader refers(stream);
  static_assert(std::is_same_v<decltype(refers), BufReader<ScriptedReader&>>);
  EXPECT_EQ(&refers.inner(), &stream);
  BufReader owns(std::move(stream), 2);
  static_assert(std::is_same_v<decltype(owns), BufReader<ScriptedReader>>);
  EXPECT_EQ(Peek(owns), "ab");
  ScriptedReader back = std::move(owns).IntoInner();
  EXPECT_EQ(Run(Read(back, absl::MakeSpan(buffer_))).value(), 1u);
}

TEST_F(BufReaderTest, ManySmallReadsBecomeOneRead) {
  ScriptedReader stream("abcdef");
  BufReader reader(stream);
  for (const char c : std::string_view("abcdef")) {
    ASSERT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 1))).value(), 1u);
    EXPECT_EQ(buffer_[0], c);
  }
  EXPECT_EQ(stream.polls(), 1);
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 0u);
}

TEST_F(BufReaderTest, ALargeReadBypassesTheBuffer) {
  ScriptedReader stream("abcdefgh");
  BufReader reader(stream, 4);
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 6))).value(), 6u);
  EXPECT_EQ(reader.buffered(), "");
  // But a read takes the bytes in the buffer first, and only those.
  EXPECT_EQ(Peek(reader), "gh");
  stream.Bytes("ij");
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 6))).value(), 2u);
  EXPECT_EQ(std::string_view(buffer_, 2), "gh");
}

TEST_F(BufReaderTest, AnEmptyReadTakesNothing) {
  ScriptedReader stream("abc");
  BufReader reader(stream);
  EXPECT_EQ(Run(Read(reader, {})).value(), 0u);
  EXPECT_EQ(stream.polls(), 0);
}

TEST_F(BufReaderTest, BytesStayUntilTheyAreConsumed) {
  ScriptedReader stream("abcdef");
  BufReader reader(stream, 4);
  EXPECT_EQ(Peek(reader), "abcd");
  EXPECT_EQ(Peek(reader), "abcd");
  reader.Consume(3);
  EXPECT_EQ(Peek(reader), "d");
  reader.Consume(1);
  EXPECT_EQ(Peek(reader), "ef");
  reader.Consume(2);
  EXPECT_EQ(Peek(reader), "");
  EXPECT_EQ(Peek(reader), "");
}

TEST_F(BufReaderTest, AnErrorIsPassedOnAndLeavesTheBuffer) {
  ScriptedReader stream;
  stream.Error(absl::UnavailableError("reset"));
  BufReader reader(stream);
  Context cx(task_.waker());
  EXPECT_EQ(reader.PollFillBuf(cx)->status(), absl::UnavailableError("reset"));
  EXPECT_EQ(reader.buffered(), "");
  stream.Error(absl::UnavailableError("again"));
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 1))).status(),
            absl::UnavailableError("again"));
}

TEST_F(BufReaderTest, PassesWritesOn) {
  auto [near, far] = Duplex(16);
  BufReader reader(near);
  const std::string_view parts[] = {"b", "c"};
  EXPECT_EQ(Run(Write(reader, "a")).value(), 1u);
  EXPECT_EQ(Run(WriteVectored(reader, parts)).value(), 2u);
  EXPECT_TRUE(Run(Flush(reader)).ok());
  EXPECT_TRUE(Run(Shutdown(reader)).ok());
  std::string received;
  EXPECT_EQ(Run(ReadToEnd(far, received)).value(), 3u);
  EXPECT_EQ(received, "abc");
}

// R13: reads from the buffer also count.
TEST_F(BufReaderTest, AFullBufferLetsOtherTasksRun) {
  ScriptedReader stream(std::string(size_t{2} * kBudgetPerPoll, 'x'));
  BufReader reader(stream);
  Context cx(task_.waker());
  uint32_t reads = 0;
  while (reader.PollRead(cx, absl::MakeSpan(buffer_, 1)).IsReady()) ++reads;
  EXPECT_EQ(reads, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(BufReaderTest, ConsumingTooMuchPanics) {
  ScriptedReader stream("abc");
  BufReader reader(stream);
  EXPECT_EQ(Peek(reader), "abc");
  EXPECT_PANIC(reader.Consume(4), "PollFillBuf()");
  EXPECT_PANIC(BufReader(stream, 0), "BufReader: the capacity is 0");
}

TEST_F(BufReaderTest, BufferedBytesFillSeveralBuffers) {
  auto [near, far] = Duplex(64);
  BufReader reader(std::move(near), 16);
  ASSERT_EQ(Run(Write(far, "abcdefgh")).value(), 8u);
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 2),
                                      absl::Span<char>(),
                                      absl::MakeSpan(buffer_ + 8, 3)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 5u);
  EXPECT_EQ(std::string_view(buffer_, 2), "ab");
  EXPECT_EQ(std::string_view(buffer_ + 8, 3), "cde");
  EXPECT_EQ(reader.buffered(), "fgh");
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 3u);
  EXPECT_EQ(reader.buffered(), "");
  EXPECT_EQ(Run(ReadVectored(reader, {})).value(), 0u);
}

TEST_F(BufReaderTest, ALargeVectoredReadBypassesTheBuffer) {
  auto [near, far] = Duplex(64);
  BufReader reader(std::move(near), 4);
  static_assert(AsyncReadVectored<decltype(reader)>);
  ASSERT_EQ(Run(Write(far, "abcdefgh")).value(), 8u);
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 2),
                                      absl::MakeSpan(buffer_ + 4, 4)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 6u);
  EXPECT_EQ(std::string_view(buffer_ + 4, 4), "cdef");
  EXPECT_EQ(reader.buffered(), "");
}

TEST_F(BufReaderTest, AnErrorOfAVectoredReadIsPassedOn) {
  ScriptedReader stream;
  stream.Error(absl::UnavailableError("reset"));
  BufReader reader(stream);
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).status(),
            absl::UnavailableError("reset"));
}

}  // namespace
}  // namespace rouse
