// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/constant_io.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/write.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncBufRead<const EmptyReader>);
static_assert(AsyncRead<const RepeatReader>);
static_assert(AsyncWrite<const SinkWriter>);

class ConstantIoTest : public IoTest {
 protected:
  // Requires that `poll(cx)` is ready once for each unit of the budget.
  template <class P>
  void ExpectTakesBudget(P poll) {
    const int wakes = task_.wakes();
    Context cx(task_.waker());
    for (size_t i = 0; i < kBudgetPerPoll; ++i) {
      ASSERT_TRUE(poll(cx).IsReady());
    }
    EXPECT_TRUE(poll(cx).IsPending());
    EXPECT_EQ(task_.wakes(), wakes + 1);
  }

  char buffer_[4] = {'?', '?', '?', '?'};
};

TEST_F(ConstantIoTest, AnEmptyReaderHasEnded) {
  EmptyReader reader;
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 0u);
  std::string line;
  EXPECT_FALSE(Run(ReadLine(reader, line)).value());
  reader.Consume(0);
  EXPECT_PANIC(reader.Consume(1), "EmptyReader::Consume");
}

TEST_F(ConstantIoTest, ARepeatReaderFillsTheBuffer) {
  RepeatReader reader('x');
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 3))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 4), "xxx?");
  EXPECT_EQ(Run(Read(reader, {})).value(), 0u);
}

TEST_F(ConstantIoTest, ASinkTakesEverything) {
  SinkWriter sink;
  EXPECT_EQ(Run(Write(sink, "abc")).value(), 3u);
  const std::string_view parts[] = {"ab", "", "c"};
  EXPECT_EQ(Run(WriteVectored(sink, parts)).value(), 3u);
  ScriptedReader reader("everything");
  EXPECT_EQ(Run(Copy(reader, sink)).value(), 10u);
  EXPECT_TRUE(Run(Flush(sink)).ok());
  EXPECT_TRUE(Run(Shutdown(sink)).ok());
  EXPECT_EQ(Run(Write(sink, "more")).value(), 4u);
}

TEST_F(ConstantIoTest, EveryOperationTakesBudget) {
  EmptyReader empty;
  RepeatReader repeat('x');
  SinkWriter sink;
  ExpectTakesBudget(
      [&](Context& cx) { return empty.PollRead(cx, absl::MakeSpan(buffer_)); });
  ExpectTakesBudget([&](Context& cx) { return empty.PollFillBuf(cx); });
  ExpectTakesBudget([&](Context& cx) {
    return repeat.PollRead(cx, absl::MakeSpan(buffer_));
  });
  ExpectTakesBudget([&](Context& cx) { return sink.PollWrite(cx, "x"); });
}

TEST_F(ConstantIoTest, ARepeatReaderFillsAllBuffers) {
  RepeatReader reader('x');
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 1),
                                      absl::MakeSpan(buffer_ + 2, 2)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 4), "x?xx");
}

}  // namespace
}  // namespace rouse
