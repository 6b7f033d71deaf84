// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/memory/cursor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/io/adapt/inspect.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/buffer/buf_stream.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/seek/seek.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncBufRead<Cursor<std::string>>);
static_assert(AsyncReadVectored<Cursor<std::string>>);
static_assert(AsyncWrite<Cursor<std::string>>);
static_assert(AsyncWrite<Cursor<std::string&>>);
static_assert(AsyncSeek<Cursor<std::string>>);
static_assert(!AsyncWrite<Cursor<std::string_view>>);
static_assert(!AsyncWrite<Cursor<const std::string&>>);
static_assert(AsyncSeek<Cursor<const std::string&>>);
// docs/guide/io.md states the sizes.
static_assert(sizeof(Cursor<std::string>) ==
              sizeof(std::string) + sizeof(uint64_t));
static_assert(sizeof(Cursor<std::string_view>) ==
              sizeof(std::string_view) + sizeof(uint64_t));

class CursorTest : public IoTest {
 protected:
  template <class R>
  std::string ReadAll(R& reader) {
    std::string all;
    EXPECT_TRUE(Run(ReadToEnd(reader, all)).ok());
    return all;
  }

  char buffer_[8];
};

TEST_F(CursorTest, OwnsOrRefers) {
  std::string text = "text";
  Cursor refers(text);
  static_assert(std::is_same_v<decltype(refers), Cursor<std::string&>>);
  ASSERT_TRUE(Run(WriteAll(refers, "T")).ok());
  EXPECT_EQ(text, "Text");
  Cursor owns(std::move(text));
  static_assert(std::is_same_v<decltype(owns), Cursor<std::string>>);
  EXPECT_EQ(owns.bytes(), "Text");
  EXPECT_EQ(std::move(owns).IntoInner(), "Text");
  Cursor literal("literal");
  static_assert(std::is_same_v<decltype(literal), Cursor<std::string_view>>);
  EXPECT_EQ(ReadAll(literal), "literal");
  const std::string constant = "constant";
  Cursor reads(constant);
  EXPECT_EQ(ReadAll(reads), "constant");
}

TEST_F(CursorTest, ReadsFromThePosition) {
  Cursor cursor("abcdef");
  EXPECT_EQ(Run(Read(cursor, absl::MakeSpan(buffer_, 2))).value(), 2u);
  EXPECT_EQ(std::string_view(buffer_, 2), "ab");
  EXPECT_EQ(cursor.position(), 2u);
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 1),
                                      absl::MakeSpan(buffer_ + 4, 2)};
  EXPECT_EQ(Run(ReadVectored(cursor, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_ + 4, 2), "de");
  EXPECT_EQ(ReadAll(cursor), "f");
  EXPECT_EQ(Run(Read(cursor, absl::MakeSpan(buffer_))).value(), 0u);
  cursor.set_position(4);
  EXPECT_EQ(ReadAll(cursor), "ef");
}

TEST_F(CursorTest, BytesStayUntilTheyAreConsumed) {
  Cursor cursor("one\ntwo");
  std::string line;
  EXPECT_TRUE(Run(ReadLine(cursor, line)).value());
  EXPECT_EQ(cursor.position(), 4u);
  Context cx(task_.waker());
  EXPECT_EQ(cursor.PollFillBuf(cx)->value(), "two");
  EXPECT_PANIC(cursor.Consume(4), "Cursor::Consume");
  cursor.Consume(3);
  EXPECT_EQ(cursor.PollFillBuf(cx)->value(), "");
}

TEST_F(CursorTest, WritesReplaceAndLengthen) {
  Cursor cursor(std::string("abcdef"));
  ASSERT_EQ(Run(Seek(cursor, 4)).value(), 4u);
  const std::string_view parts[] = {"1", "", "23"};
  EXPECT_EQ(Run(WriteVectored(cursor, parts)).value(), 3u);
  EXPECT_EQ(cursor.bytes(), "abcd123");
  EXPECT_EQ(cursor.position(), 7u);
  ASSERT_TRUE(Run(Rewind(cursor)).ok());
  ASSERT_TRUE(Run(WriteAll(cursor, "AB")).ok());
  EXPECT_EQ(cursor.bytes(), "ABcd123");
  EXPECT_TRUE(Run(Flush(cursor)).ok());
  EXPECT_TRUE(Run(Shutdown(cursor)).ok());
  EXPECT_EQ(ReadAll(cursor), "cd123");
}

TEST_F(CursorTest, AWriteBehindTheEndFillsTheGapWithZeros) {
  Cursor cursor(std::string("ab"));
  EXPECT_EQ(Run(Seek(cursor, 2, SeekFrom::kEnd)).value(), 4u);
  EXPECT_EQ(Run(Read(cursor, absl::MakeSpan(buffer_))).value(), 0u);
  // An empty write changes nothing.
  EXPECT_EQ(Run(Write(cursor, "")).value(), 0u);
  EXPECT_EQ(cursor.bytes().size(), 2u);
  ASSERT_TRUE(Run(WriteAll(cursor, "c")).ok());
  EXPECT_EQ(cursor.bytes(), std::string_view("ab\0\0c", 5));
}

TEST_F(CursorTest, AnImpossibleWriteIsAnError) {
  Cursor cursor(std::string("ab"));
  cursor.set_position(std::numeric_limits<uint64_t>::max());
  const absl::Status status = Run(WriteAll(cursor, "x"));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(cursor.bytes(), "ab");
}

TEST_F(CursorTest, SeeksAreChecked) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Cursor cursor("abcdef");
  EXPECT_EQ(Run(Seek(cursor, -2, SeekFrom::kEnd)).value(), 4u);
  EXPECT_EQ(Run(Seek(cursor, 1, SeekFrom::kCurrent)).value(), 5u);
  EXPECT_EQ(Run(Seek(cursor, -5, SeekFrom::kCurrent)).value(), 0u);
  EXPECT_EQ(Run(Seek(cursor, kMax, SeekFrom::kBegin)).value(),
            static_cast<uint64_t>(kMax));
  EXPECT_EQ(Run(Seek(cursor, kMax, SeekFrom::kCurrent)).value(),
            2 * static_cast<uint64_t>(kMax));
  EXPECT_EQ(Run(Seek(cursor, 2, SeekFrom::kCurrent)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // The failed seek has changed nothing.
  EXPECT_EQ(cursor.position(), 2 * static_cast<uint64_t>(kMax));
  EXPECT_EQ(Run(Seek(cursor, 3)).value(), 3u);
  const absl::Status status =
      Run(Seek(cursor, -4, SeekFrom::kCurrent)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      status.message(),
      "Cursor: a seek by -4 bytes from 3 leads in front of the beginning");
  EXPECT_FALSE(Run(Seek(cursor, kMin, SeekFrom::kEnd)).ok());
  EXPECT_EQ(cursor.position(), 3u);
}

TEST_F(CursorTest, EveryOperationTakesBudget) {
  Cursor cursor(std::string("a"));
  Context cx(task_.waker());
  while (cx.HasBudget()) ASSERT_TRUE(cursor.PollFillBuf(cx).IsReady());
  EXPECT_TRUE(cursor.PollFillBuf(cx).IsPending());
  EXPECT_TRUE(cursor.PollRead(cx, absl::MakeSpan(buffer_)).IsPending());
  EXPECT_TRUE(cursor.PollWrite(cx, "x").IsPending());
  EXPECT_TRUE(cursor.PollSeek(cx, 0, SeekFrom::kBegin).IsPending());
  EXPECT_EQ(task_.wakes(), 4);
  EXPECT_EQ(cursor.bytes(), "a");
}

TEST_F(CursorTest, ABufReaderDropsItsBufferWhenItSeeks) {
  BufReader reader(Cursor("abcdefgh"), 4);
  static_assert(AsyncSeek<decltype(reader)>);
  static_assert(!AsyncSeek<BufReader<ScriptedReader>>);
  ASSERT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 1))).value(), 1u);
  EXPECT_EQ(reader.buffered(), "bcd");
  // The position is that of the next byte to be read, not of the stream.
  EXPECT_EQ(Run(Position(reader)).value(), 1u);
  EXPECT_EQ(reader.buffered(), "");
  ASSERT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 1))).value(), 1u);
  EXPECT_EQ(Run(Seek(reader, 3, SeekFrom::kCurrent)).value(), 5u);
  EXPECT_EQ(ReadAll(reader), "fgh");
  EXPECT_EQ(Run(Seek(reader, -1, SeekFrom::kEnd)).value(), 7u);
  EXPECT_EQ(ReadAll(reader), "h");
}

TEST_F(CursorTest, AFailedSeekKeepsTheBuffer) {
  BufReader reader(Cursor("abcdefgh"), 4);
  ASSERT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 1))).value(), 1u);
  for (const int64_t offset :
       {int64_t{-2}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(Run(Seek(reader, offset, SeekFrom::kCurrent)).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(reader.buffered(), "bcd");
  }
  EXPECT_EQ(ReadAll(reader), "bcdefgh");
}

TEST_F(CursorTest, ABufWriterWritesItsBufferBeforeItSeeks) {
  BufWriter writer(Cursor(std::string("abcdefgh")), 16);
  static_assert(AsyncSeek<decltype(writer)>);
  static_assert(!AsyncSeek<BufWriter<ScriptedWriter>>);
  ASSERT_TRUE(Run(WriteAll(writer, "AB")).ok());
  EXPECT_EQ(Run(Seek(writer, 2, SeekFrom::kCurrent)).value(), 4u);
  EXPECT_EQ(writer.buffered(), "");
  ASSERT_TRUE(Run(WriteAll(writer, "E")).ok());
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(writer.inner().bytes(), "ABcdEfgh");
}

TEST_F(CursorTest, ABufStreamSeeksBetweenReadingAndWriting) {
  BufStream stream(Cursor(std::string("one\ntwo\n")));
  std::string line;
  ASSERT_TRUE(Run(ReadLine(stream, line)).value());
  EXPECT_EQ(Run(Position(stream)).value(), 4u);
  ASSERT_TRUE(Run(WriteAll(stream, "TWO")).ok());
  EXPECT_EQ(Run(Rewind(stream)).value(), 0u);
  EXPECT_EQ(stream.inner().bytes(), "one\nTWO\n");
  EXPECT_EQ(ReadAll(stream), "one\nTWO\n");
}

TEST_F(CursorTest, AnInspectingStreamSeeks) {
  std::string shown;
  InspectReader reader(Cursor("abc"),
                       [&](std::string_view bytes) { shown += bytes; });
  EXPECT_EQ(Run(Seek(reader, 1)).value(), 1u);
  EXPECT_EQ(ReadAll(reader), "bc");
  InspectWriter writer(Cursor(std::string("abc")),
                       [&](std::string_view bytes) { shown += bytes; });
  EXPECT_EQ(Run(Seek(writer, 2)).value(), 2u);
  ASSERT_TRUE(Run(WriteAll(writer, "C")).ok());
  EXPECT_EQ(writer.inner().bytes(), "abC");
  EXPECT_EQ(shown, "bcC");
}

// A reader with a buffer must return what the bytes themselves are, whatever
// the order of reads and seeks.
TEST_F(CursorTest, RandomSeeksAndReadsReturnTheRightBytes) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    FastRand rand(seed);
    BufReader reader{Cursor(text), size_t{1} + rand.Below(16)};
    uint64_t position = 0;
    for (int step = 0; step < 300; ++step) {
      const auto target = static_cast<int64_t>(rand.Below(220));
      switch (rand.Below(4)) {
        case 0:
          position = Run(Seek(reader, target)).value();
          ASSERT_EQ(position, static_cast<uint64_t>(target));
          break;
        case 1: {
          const int64_t offset = target - static_cast<int64_t>(position);
          position = Run(Seek(reader, offset, SeekFrom::kCurrent)).value();
          ASSERT_EQ(position, static_cast<uint64_t>(target));
          break;
        }
        case 2:
          position = Run(Seek(reader, target - 200, SeekFrom::kEnd)).value();
          ASSERT_EQ(position, static_cast<uint64_t>(target));
          break;
        default: {
          const size_t room = rand.Below(sizeof buffer_ + 1);
          const size_t size =
              Run(Read(reader, absl::MakeSpan(buffer_, room))).value();
          ASSERT_EQ(std::string_view(buffer_, size),
                    std::string_view(text).substr(
                        std::min<uint64_t>(position, 200), size));
          position += size;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rouse
