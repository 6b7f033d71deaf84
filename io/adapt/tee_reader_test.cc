// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/tee_reader.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
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

static_assert(AsyncBufRead<TeeReader<ScriptedReader, ScriptedWriter&>>);
// docs/guide/io.md states the size.
static_assert(sizeof(TeeReader<ScriptedReader&, ScriptedWriter&>) ==
              sizeof(ScriptedReader*) + sizeof(ScriptedWriter*) +
                  5 * sizeof(void*));

class TeeReaderTest : public IoTest {
 protected:
  ScriptedReader reader_;
  ScriptedWriter writer_;
  char buffer_[16];
};

TEST_F(TeeReaderTest, EveryByteReadIsWritten) {
  reader_.Bytes("one\ntw").Pending().Bytes("o\nrest");
  TeeReader tee(reader_, writer_);
  std::string line;
  EXPECT_TRUE(Run(ReadLine(tee, line)).value());
  EXPECT_TRUE(Run(ReadLine(tee, line)).value());
  EXPECT_EQ(line, "onetwo");
  std::string rest;
  EXPECT_EQ(Run(ReadToEnd(tee, rest)).value(), 4u);
  EXPECT_EQ(writer_.written(), "one\ntwo\nrest");
  EXPECT_EQ(&tee.reader(), &reader_);
  EXPECT_EQ(&tee.writer(), &writer_);
}

TEST_F(TeeReaderTest, ReturnsNoByteBeforeItIsWritten) {
  reader_.Bytes("abcdef");
  writer_.TakeAtMost(4);
  writer_.Block();
  TeeReader tee(reader_, writer_);
  {
    auto read = Read(tee, absl::MakeSpan(buffer_));
    EXPECT_TRUE(Poll(read).IsPending());
  }
  // Destroying the future has lost nothing.
  writer_.Block(false);
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_, 3))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "abc");
  EXPECT_EQ(writer_.written(), "abcd");
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).value(), 1u);
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).value(), 2u);
  EXPECT_EQ(std::string_view(buffer_, 2), "ef");
  EXPECT_EQ(writer_.written(), "abcdef");
  EXPECT_EQ(reader_.polls(), 1);
}

TEST_F(TeeReaderTest, AnErrorOfTheWriterKeepsTheBytes) {
  reader_.Bytes("abc");
  writer_.Error(absl::ResourceExhaustedError("disk full"));
  TeeReader tee(reader_, writer_);
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).status(),
            absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).value(), 3u);
  EXPECT_EQ(writer_.written(), "abc");
}

TEST_F(TeeReaderTest, AnErrorOfTheReaderIsPassedOn) {
  reader_.Error(absl::UnavailableError("reset"));
  TeeReader tee(reader_, writer_);
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(writer_.written(), "");
}

TEST_F(TeeReaderTest, AWriterThatTakesNothingIsAnError) {
  reader_.Bytes("abc");
  writer_.TakeAtMost(0);
  TeeReader tee(reader_, writer_);
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(TeeReaderTest, BytesStayUntilTheyAreConsumed) {
  reader_.Bytes("abc");
  TeeReader tee(reader_, writer_, 2);
  Context cx(task_.waker());
  EXPECT_EQ(tee.PollFillBuf(cx)->value(), "ab");
  tee.Consume(1);
  EXPECT_EQ(tee.PollFillBuf(cx)->value(), "b");
  EXPECT_PANIC(tee.Consume(2), "TeeReader::Consume");
  tee.Consume(1);
  EXPECT_EQ(tee.PollFillBuf(cx)->value(), "c");
  EXPECT_EQ(writer_.written(), "abc");
  EXPECT_EQ(Run(Read(tee, {})).value(), 0u);
}

TEST_F(TeeReaderTest, BothStreamsAreAwaited) {
  auto [source, near] = Duplex(16);
  auto [sink, far] = Duplex(2);
  TeeReader tee(near, sink);
  auto read = Read(tee, absl::MakeSpan(buffer_));
  EXPECT_TRUE(Poll(read).IsPending());
  ASSERT_TRUE(Run(WriteAll(source, "abcd")).ok());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(read)->value(), 2u);
  auto second = Read(tee, absl::MakeSpan(buffer_));
  EXPECT_TRUE(Poll(second).IsPending());
  EXPECT_EQ(Run(Read(far, absl::MakeSpan(buffer_))).value(), 2u);
  EXPECT_EQ(task_.wakes(), 2);
  EXPECT_EQ(Poll(second)->value(), 2u);
}

TEST_F(TeeReaderTest, ReturnsTheStreams) {
  TeeReader tee(ScriptedReader("abc"), ScriptedWriter());
  EXPECT_EQ(Run(Read(tee, absl::MakeSpan(buffer_))).value(), 3u);
  auto [reader, writer] = std::move(tee).IntoInner();
  EXPECT_EQ(writer.written(), "abc");
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 0u);
}

TEST_F(TeeReaderTest, NeedsCapacity) {
  EXPECT_PANIC(TeeReader(reader_, writer_, 0), "TeeReader: the capacity is 0");
}

}  // namespace
}  // namespace rouse
