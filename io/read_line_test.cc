// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/read_line.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/buf_reader.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<ReadLineFuture<BufReader<ScriptedReader>>>);

class ReadLineTest : public IoTest {
 protected:
  // Returns the next line in quotes, or a description of the result without a
  // line.
  template <class R>
  std::string Next(R& reader) {
    std::string line;
    const auto result = Run(ReadLine(reader, line, 8));
    if (!result.ok()) return result.status().ToString();
    return *result ? "'" + line + "'" : "end" + line;
  }
};

TEST_F(ReadLineTest, LinesEndWithLfOrCrLf) {
  ScriptedReader stream("one\ntwo\r\n\n\r\nthr\ree\nlast");
  BufReader reader(stream);
  EXPECT_EQ(Next(reader), "'one'");
  EXPECT_EQ(Next(reader), "'two'");
  EXPECT_EQ(Next(reader), "''");
  EXPECT_EQ(Next(reader), "''");
  EXPECT_EQ(Next(reader), "'thr\ree'");
  EXPECT_EQ(Next(reader), "'last'");
  EXPECT_EQ(Next(reader), "end");
  EXPECT_EQ(Next(reader), "end");
}

TEST_F(ReadLineTest, ASplitCrLfIsOneLineEnd) {
  ScriptedReader stream;
  stream.Bytes("one\r").Pending().Bytes("\ntwo");
  BufReader reader(stream);
  EXPECT_EQ(Next(reader), "'one'");
  EXPECT_EQ(Next(reader), "'two'");
}

TEST_F(ReadLineTest, ACarriageReturnAtTheEndOfTheStreamStays) {
  ScriptedReader stream("one\r");
  BufReader reader(stream);
  EXPECT_EQ(Next(reader), "'one\r'");
  EXPECT_EQ(Next(reader), "end");
}

TEST_F(ReadLineTest, ACancelledReadLosesNothing) {
  ScriptedReader stream;
  stream.Bytes("one\r").Pending().Bytes("\n");
  BufReader reader(stream);
  std::string line;
  {
    auto read = ReadLine(reader, line);
    ASSERT_TRUE(Poll(read).IsPending());
  }
  EXPECT_TRUE(Run(ReadLine(reader, line)).value());
  EXPECT_EQ(line, "one");
}

TEST_F(ReadLineTest, ALoopThatCollectsLinesEndsWithTheStream) {
  ScriptedReader stream("one\ntwo\nlast");
  BufReader reader(stream);
  std::string lines;
  EXPECT_TRUE(Run(ReadLine(reader, lines)).value());
  EXPECT_TRUE(Run(ReadLine(reader, lines)).value());
  EXPECT_TRUE(Run(ReadLine(reader, lines)).value());
  EXPECT_EQ(lines, "onetwolast");
  EXPECT_FALSE(Run(ReadLine(reader, lines)).value());
  EXPECT_EQ(lines, "onetwolast");
}

TEST_F(ReadLineTest, AReadCancelledBeforeTheEndOfTheStreamLosesNothing) {
  ScriptedReader stream;
  stream.Bytes("one").Pending();
  BufReader reader(stream);
  std::string line;
  {
    auto read = ReadLine(reader, line);
    ASSERT_TRUE(Poll(read).IsPending());
  }
  // Nothing more is added; the earlier bytes stay.
  EXPECT_FALSE(Run(ReadLine(reader, line)).value());
  EXPECT_EQ(line, "one");
}

TEST_F(ReadLineTest, ALongLineIsResourceExhausted) {
  ScriptedReader stream("1234567\n12345678\n");
  BufReader reader(stream);
  EXPECT_EQ(Next(reader), "'1234567'");
  std::string line;
  EXPECT_EQ(Run(ReadLine(reader, line, 8)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(line, "12345678");
}

}  // namespace
}  // namespace rouse
