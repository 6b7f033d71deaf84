// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/read_until.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/buf_reader.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<ReadUntilFuture<BufReader<ScriptedReader>>>);

class ReadUntilTest : public IoTest {};

TEST_F(ReadUntilTest, ReadsUpToAndIncludingTheDelimiter) {
  ScriptedReader stream("ab;;cd");
  BufReader reader(stream);
  std::string out;
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 3u);
  EXPECT_EQ(out, "ab;");
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 1u);
  EXPECT_EQ(out, "ab;;");
  // The end of the stream also ends the last record.
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 2u);
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 0u);
  EXPECT_EQ(out, "ab;;cd");
}

TEST_F(ReadUntilTest, ARecordCanBeLongerThanTheBuffer) {
  ScriptedReader stream("abcdefghij;k");
  BufReader reader(stream, 3);
  std::string out;
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 11u);
  EXPECT_EQ(out, "abcdefghij;");
}

TEST_F(ReadUntilTest, ACancelledReadLosesNothing) {
  ScriptedReader stream;
  stream.Bytes("abc").Pending().Bytes("d;e");
  BufReader reader(stream);
  std::string out;
  {
    auto read = ReadUntil(reader, ';', out);
    ASSERT_TRUE(Poll(read).IsPending());
  }
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).value(), 2u);
  EXPECT_EQ(out, "abcd;");
  EXPECT_EQ(reader.buffered(), "e");
}

TEST_F(ReadUntilTest, TheLimitCountsTheDelimiter) {
  ScriptedReader stream("abc;abcd;");
  BufReader reader(stream);
  std::string out;
  EXPECT_EQ(Run(ReadUntil(reader, ';', out, 4)).value(), 4u);
  out.clear();
  EXPECT_EQ(Run(ReadUntil(reader, ';', out, 4)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(out, "abcd");
  // The remaining bytes can still be read.
  EXPECT_EQ(reader.buffered(), ";");
}

TEST_F(ReadUntilTest, TheLimitSpansSeveralReads) {
  ScriptedReader stream;
  stream.Bytes("ab").Bytes("cd").Bytes("ef");
  BufReader reader(stream);
  std::string out;
  EXPECT_EQ(Run(ReadUntil(reader, ';', out, 3)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(out, "abc");
}

TEST_F(ReadUntilTest, AnErrorIsPassedOn) {
  ScriptedReader stream;
  stream.Bytes("ab").Error(absl::UnavailableError("reset"));
  BufReader reader(stream);
  std::string out;
  EXPECT_EQ(Run(ReadUntil(reader, ';', out)).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(out, "ab");
}

TEST_F(ReadUntilTest, PollingACompleteReadPanics) {
  ScriptedReader stream;
  BufReader reader(stream);
  std::string out;
  auto read = ReadUntil(reader, ';', out);
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "ReadUntil was polled after");
}

}  // namespace
}  // namespace rouse
