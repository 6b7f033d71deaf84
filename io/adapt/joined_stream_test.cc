// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/joined_stream.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/copy_bidirectional.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/framed.h"
#include "rouse/io/line_codec.h"
#include "rouse/io/memory/cursor.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using Joined = JoinedStream<ScriptedReader&, ScriptedWriter>;
static_assert(AsyncRead<Joined> && AsyncWrite<Joined>);
static_assert(!AsyncBufRead<Joined>);
static_assert(AsyncReadVectored<Joined>);
static_assert(
    AsyncBufRead<JoinedStream<BufReader<ScriptedReader>, ScriptedWriter&>>);

class JoinedStreamTest : public IoTest {};

TEST_F(JoinedStreamTest, ReadsFromTheReaderAndWritesToTheWriter) {
  ScriptedWriter writer;
  writer.TakeAtMost(3);
  JoinedStream stream(ScriptedReader("abc"), writer);
  char buffer[8];
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "abc");
  EXPECT_EQ(Run(Write(stream, "hello")).value(), 3u);
  const std::string_view parts[] = {"l", "o"};
  {
    Context cx(task_.waker());
    EXPECT_EQ(stream.PollWriteVectored(cx, parts)->value(), 2u);
  }
  EXPECT_EQ(writer.written(), "hello");
  EXPECT_TRUE(Run(Flush(stream)).ok());
  EXPECT_EQ(writer.flushed(), 5u);
  EXPECT_FALSE(writer.is_shut_down());
  EXPECT_TRUE(Run(Shutdown(stream)).ok());
  EXPECT_TRUE(writer.is_shut_down());
}

TEST_F(JoinedStreamTest, AnErrorConcernsOneDirection) {
  ScriptedReader reader;
  reader.Error(absl::UnavailableError("reset")).Bytes("a");
  ScriptedWriter writer;
  writer.Error(absl::FailedPreconditionError("closed"));
  JoinedStream stream(reader, writer);
  char byte;
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(&byte, 1))).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Flush(stream)), absl::FailedPreconditionError("closed"));
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(&byte, 1))).value(), 1u);
  EXPECT_TRUE(Run(WriteAll(stream, "b")).ok());
}

TEST_F(JoinedStreamTest, PassesTheBufferOfTheReaderOn) {
  ScriptedWriter writer;
  JoinedStream stream(BufReader(ScriptedReader("one\ntwo\n")), writer);
  std::string line;
  EXPECT_TRUE(Run(ReadLine(stream, line)).value());
  EXPECT_EQ(line, "one");
  EXPECT_EQ(stream.reader().buffered(), "two\n");
}

TEST_F(JoinedStreamTest, PassesReadsIntoSeveralBuffersOn) {
  ScriptedWriter writer;
  JoinedStream stream(Cursor("abcdef"), writer);
  char first[2];
  char second[8];
  const absl::Span<char> buffers[] = {absl::MakeSpan(first),
                                      absl::MakeSpan(second)};
  Context cx(task_.waker());
  EXPECT_EQ(stream.PollReadVectored(cx, buffers)->value(), 6u);
  EXPECT_EQ(std::string_view(first, 2), "ab");
  EXPECT_EQ(std::string_view(second, 4), "cdef");
  EXPECT_EQ(stream.reader().position(), 6u);
}

TEST_F(JoinedStreamTest, AVectoredReadWaitsInThePlaceOfTheReader) {
  auto [a, b] = Duplex(4);
  JoinedStream stream(std::move(a), ScriptedWriter());
  char byte;
  const absl::Span<char> buffers[] = {absl::MakeSpan(&byte, 1)};
  {
    decltype(stream)::Waiter waiter;
    Context cx(task_.waker());
    EXPECT_TRUE(stream.PollReadVectored(cx, buffers, &waiter).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(JoinedStreamTest, ADestroyedFutureWaitsNoLonger) {
  auto [a, b] = Duplex(1);
  auto [c, d] = Duplex(1);
  JoinedStream stream(std::move(a), std::move(c));
  ASSERT_TRUE(Run(WriteAll(stream, "x")).ok());
  char byte;
  {
    auto read = Read(stream, absl::MakeSpan(&byte, 1));
    auto write = Write(stream, "y");
    ASSERT_TRUE(Poll(read).IsPending());
    ASSERT_TRUE(Poll(write).IsPending());
    EXPECT_EQ(task_.live(), 2);
  }
  EXPECT_EQ(task_.live(), 0);
  // Each direction has a stream of its own.
  EXPECT_EQ(Run(Write(b, "z")).value(), 1u);
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(&byte, 1))).value(), 1u);
  EXPECT_EQ(byte, 'z');
  EXPECT_EQ(Run(Read(d, absl::MakeSpan(&byte, 1))).value(), 1u);
  EXPECT_EQ(byte, 'x');
}

TEST_F(JoinedStreamTest, CarriesFramesInBothDirections) {
  ScriptedWriter writer;
  Framed frames(JoinedStream(ScriptedReader("question\n"), writer),
                LineCodec());
  EXPECT_EQ(Run(Next(frames)).value().value(), "question");
  EXPECT_TRUE(Run(frames.Send("answer")).ok());
  EXPECT_EQ(writer.written(), "answer\n");
}

TEST_F(JoinedStreamTest, IsASideOfAProxy) {
  ScriptedWriter to_a;
  ScriptedWriter to_b;
  JoinedStream a(ScriptedReader("from a"), to_a);
  JoinedStream b(ScriptedReader("from b"), to_b);
  const auto copied = Run(CopyBidirectional(a, b));
  EXPECT_EQ(copied.value().a_to_b, 6u);
  EXPECT_EQ(to_b.written(), "from a");
  EXPECT_EQ(to_a.written(), "from b");
  EXPECT_TRUE(to_a.is_shut_down());
}

TEST_F(JoinedStreamTest, TheStreamsCanBeTakenOut) {
  ScriptedReader reader("ab");
  JoinedStream stream(reader, ScriptedWriter());
  EXPECT_EQ(&stream.reader(), &reader);
  ASSERT_TRUE(Run(WriteAll(stream, "c")).ok());
  EXPECT_EQ(stream.writer().written(), "c");
  auto [same, writer] = std::move(stream).IntoInner();
  EXPECT_EQ(&same, &reader);
  EXPECT_EQ(writer.written(), "c");
}

}  // namespace
}  // namespace rouse
