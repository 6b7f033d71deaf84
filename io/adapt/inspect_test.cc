// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/inspect.h"

#include <cstddef>
#include <string>
#include <string_view>
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
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

struct Ignore {
  void operator()(std::string_view) const {}
};
// docs/guide/io.md states the size.
static_assert(sizeof(InspectReader<ScriptedReader&, Ignore>) ==
              sizeof(ScriptedReader*));

class InspectTest : public IoTest {
 protected:
  auto Log() {
    return [this](std::string_view bytes) {
      log_ += bytes;
      log_ += '|';
    };
  }

  std::string log_;
  char buffer_[16];
};

TEST_F(InspectTest, ShowsTheBytesOfEachRead) {
  ScriptedReader stream;
  stream.Bytes("abcdef").Pending().Bytes("gh");
  InspectReader reader(stream, Log());
  static_assert(AsyncRead<decltype(reader)>);
  static_assert(!AsyncWrite<decltype(reader)>);
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 4))).value(), 4u);
  EXPECT_EQ(log_, "abcd|");
  std::string rest;
  EXPECT_EQ(Run(ReadToEnd(reader, rest)).value(), 4u);
  EXPECT_EQ(rest, "efgh");
  // The end shows nothing.
  EXPECT_EQ(log_, "abcd|ef|gh|");
}

TEST_F(InspectTest, APendingOrFailedReadShowsNothing) {
  ScriptedReader stream;
  stream.Pending().Error(absl::UnavailableError("reset"));
  InspectReader reader(std::move(stream), Log());
  auto read = Read(reader, absl::MakeSpan(buffer_));
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(Poll(read)->status(), absl::UnavailableError("reset"));
  EXPECT_EQ(log_, "");
}

TEST_F(InspectTest, AReaderPassesWritesOn) {
  auto [near, far] = Duplex(16);
  InspectReader stream(near, Log());
  static_assert(AsyncWrite<decltype(stream)>);
  const std::string_view parts[] = {"b", "c"};
  EXPECT_EQ(Run(Write(stream, "a")).value(), 1u);
  EXPECT_EQ(Run(WriteVectored(stream, parts)).value(), 2u);
  EXPECT_TRUE(Run(Flush(stream)).ok());
  EXPECT_TRUE(Run(Shutdown(stream)).ok());
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(far, all)).value(), 3u);
  EXPECT_EQ(log_, "");
  EXPECT_EQ(&stream.inner(), &near);
}

TEST_F(InspectTest, ShowsTheBytesThatWereWritten) {
  ScriptedWriter stream;
  stream.TakeAtMost(3);
  InspectWriter writer(stream, Log());
  static_assert(AsyncWrite<decltype(writer)>);
  static_assert(!AsyncRead<decltype(writer)>);
  EXPECT_TRUE(Run(WriteAll(writer, "abcd")).ok());
  EXPECT_EQ(log_, "abc|d|");
  log_.clear();
  const std::string_view parts[] = {"", "e", "fg", "hi"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 3u);
  EXPECT_EQ(log_, "e|fg|");
  EXPECT_EQ(stream.written(), "abcdefg");
  EXPECT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(stream.flushed(), 7u);
  EXPECT_TRUE(Run(Shutdown(writer)).ok());
  EXPECT_TRUE(stream.is_shut_down());
  EXPECT_EQ(&writer.inner(), &stream);
}

TEST_F(InspectTest, APendingOrFailedWriteShowsNothing) {
  ScriptedWriter stream;
  stream.BePendingInTurns();
  InspectWriter writer(stream, Log());
  auto write = Write(writer, "abc");
  EXPECT_TRUE(Poll(write).IsPending());
  stream.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Poll(write)->status(), absl::UnavailableError("reset"));
  EXPECT_EQ(log_, "");
}

TEST_F(InspectTest, AWriterPassesReadsOn) {
  auto [near, far] = Duplex(16);
  InspectWriter stream(BufReader(std::move(near)), Log());
  static_assert(AsyncBufRead<decltype(stream)>);
  ASSERT_TRUE(Run(WriteAll(far, "line\nrest")).ok());
  std::string line;
  EXPECT_TRUE(Run(ReadLine(stream, line)).value());
  EXPECT_EQ(line, "line");
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer_))).value(), 4u);
  EXPECT_EQ(log_, "");
  const BufReader<DuplexStream> inner = std::move(stream).IntoInner();
  EXPECT_EQ(inner.buffered(), "");
}

TEST_F(InspectTest, AVectoredReadShowsEachBuffer) {
  auto [near, far] = Duplex(16);
  InspectReader reader(near, Log());
  ASSERT_TRUE(Run(WriteAll(far, "abcd")).ok());
  const absl::Span<char> buffers[] = {
      absl::MakeSpan(buffer_, 1), absl::Span<char>(),
      absl::MakeSpan(buffer_ + 4, 2), absl::MakeSpan(buffer_ + 8, 8)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 4u);
  EXPECT_EQ(log_, "a|bc|d|");
  // A writer shows no reads.
  InspectWriter writer(near, Log());
  ASSERT_TRUE(Run(WriteAll(far, "ef")).ok());
  EXPECT_EQ(Run(ReadVectored(writer, buffers)).value(), 2u);
  EXPECT_EQ(log_, "a|bc|d|");
}

}  // namespace
}  // namespace rouse
