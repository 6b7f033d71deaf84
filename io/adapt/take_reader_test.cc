// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/take_reader.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/adapt/constant_io.h"
#include "rouse/io/async_read.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncRead<TakeReader<ScriptedReader&>>);
static_assert(!AsyncBufRead<TakeReader<ScriptedReader&>>);
static_assert(AsyncBufRead<TakeReader<BufReader<ScriptedReader>>>);

class TakeReaderTest : public IoTest {
 protected:
  template <class R>
  std::string ReadAll(R& reader) {
    std::string all;
    EXPECT_TRUE(Run(ReadToEnd(reader, all)).ok());
    return all;
  }
};

TEST_F(TakeReaderTest, ReadsTheFirstBytesAndLeavesTheOthers) {
  ScriptedReader reader;
  reader.Bytes("ab").Pending().Bytes("cdefg");
  TakeReader first(reader, 4);
  EXPECT_EQ(ReadAll(first), "abcd");
  EXPECT_EQ(first.limit(), 0u);
  // The end stays, without another poll of the stream.
  const int polls = reader.polls();
  EXPECT_EQ(ReadAll(first), "");
  EXPECT_EQ(reader.polls(), polls);
  EXPECT_EQ(ReadAll(reader), "efg");
}

TEST_F(TakeReaderTest, AnEarlyEndLeavesALimit) {
  TakeReader first(ScriptedReader("abc"), 5);
  EXPECT_EQ(ReadAll(first), "abc");
  EXPECT_EQ(first.limit(), 2u);
}

TEST_F(TakeReaderTest, ANewLimitContinues) {
  TakeReader part(ScriptedReader("abcdef"), 2);
  EXPECT_EQ(ReadAll(part), "ab");
  part.set_limit(3);
  EXPECT_EQ(ReadAll(part), "cde");
  ScriptedReader rest = std::move(part).IntoInner();
  EXPECT_EQ(ReadAll(rest), "f");
}

TEST_F(TakeReaderTest, LimitsTheBytesOfABuffer) {
  BufReader reader(ScriptedReader("one\ntwo\nthree\n"));
  TakeReader first(reader, 6);
  std::string line;
  ASSERT_TRUE(Run(ReadLine(first, line)).value());
  EXPECT_EQ(line, "one");
  line.clear();
  ASSERT_TRUE(Run(ReadLine(first, line)).value());
  EXPECT_EQ(line, "tw");
  EXPECT_FALSE(Run(ReadLine(first, line)).value());
  line.clear();
  ASSERT_TRUE(Run(ReadLine(reader, line)).value());
  EXPECT_EQ(line, "o");
}

TEST_F(TakeReaderTest, ConsumingMoreThanTheLimitPanics) {
  BufReader reader(ScriptedReader("abc"));
  TakeReader first(reader, 2);
  {
    Context cx(task_.waker());
    ASSERT_TRUE(first.PollFillBuf(cx).IsReady());
  }
  EXPECT_PANIC(first.Consume(3), "TakeReader::Consume: more bytes than");
}

TEST_F(TakeReaderTest, AnErrorIsPassedOnAndDoesNotCount) {
  ScriptedReader reader;
  reader.Error(absl::UnavailableError("reset")).Bytes("ab");
  TakeReader first(reader, 2);
  char byte;
  EXPECT_EQ(Run(Read(first, absl::MakeSpan(&byte, 1))).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(ReadAll(first), "ab");
}

TEST_F(TakeReaderTest, ADestroyedReadLosesNothing) {
  auto [a, b] = Duplex(16);
  TakeReader first(a, 3);
  char buffer[8];
  {
    auto read = Read(first, absl::MakeSpan(buffer));
    ASSERT_TRUE(Poll(read).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  {
    Context cx(task_.waker());
    ASSERT_TRUE(b.PollWrite(cx, "abcd").IsReady());
  }
  EXPECT_EQ(Run(Read(first, absl::MakeSpan(buffer))).value(), 3u);
}

TEST_F(TakeReaderTest, TheEndTakesBudget) {
  TakeReader none(EmptyReader(), 0);
  Context cx(task_.waker());
  char byte;
  for (size_t i = 0; i < kBudgetPerPoll; ++i) {
    ASSERT_TRUE(none.PollRead(cx, absl::MakeSpan(&byte, 1)).IsReady());
  }
  EXPECT_TRUE(none.PollRead(cx, absl::MakeSpan(&byte, 1)).IsPending());
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(TakeReaderTest, SeveralBuffersAreFilledUpToTheLimit) {
  auto [near, far] = Duplex(64);
  TakeReader first(near, 6);
  ASSERT_TRUE(Run(WriteAll(far, "abcdefgh")).ok());
  char bytes[12];
  const absl::Span<char> buffers[] = {absl::MakeSpan(bytes, 2),
                                      absl::MakeSpan(bytes + 4, 2),
                                      absl::MakeSpan(bytes + 8, 4)};
  EXPECT_EQ(Run(ReadVectored(first, buffers)).value(), 4u);
  EXPECT_EQ(std::string_view(bytes + 4, 2), "cd");
  EXPECT_EQ(first.limit(), 2u);
  // The limit ends within the first buffer.
  EXPECT_EQ(
      Run(ReadVectored(first, absl::MakeConstSpan(buffers).subspan(2))).value(),
      2u);
  EXPECT_EQ(std::string_view(bytes + 8, 2), "ef");
  EXPECT_EQ(Run(ReadVectored(first, buffers)).value(), 0u);
  first.set_limit(100);
  EXPECT_EQ(Run(ReadVectored(first, buffers)).value(), 2u);
  EXPECT_EQ(first.limit(), 98u);
  EXPECT_EQ(Run(ReadVectored(first, {})).value(), 0u);
}

}  // namespace
}  // namespace rouse
