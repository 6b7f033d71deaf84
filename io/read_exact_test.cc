// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/read_exact.h"

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<ReadExactFuture<ScriptedReader>>);

class ReadExactTest : public IoTest {
 protected:
  char buffer_[4];
};

TEST_F(ReadExactTest, GathersPieces) {
  ScriptedReader reader;
  reader.Bytes("a").Pending().Bytes("bc").Pending().Bytes("def");
  ASSERT_TRUE(Run(ReadExact(reader, absl::MakeSpan(buffer_))).ok());
  EXPECT_EQ(std::string_view(buffer_, 4), "abcd");
  // The bytes behind stay in place.
  char rest[2];
  ASSERT_TRUE(Run(ReadExact(reader, absl::MakeSpan(rest))).ok());
  EXPECT_EQ(std::string_view(rest, 2), "ef");
}

TEST_F(ReadExactTest, ReadingZeroBytesIsReadyAtOnce) {
  ScriptedReader reader;
  EXPECT_TRUE(Run(ReadExact(reader, {})).ok());
  EXPECT_EQ(reader.polls(), 0);
}

TEST_F(ReadExactTest, AnEarlyEndIsOutOfRange) {
  ScriptedReader reader("abc");
  auto read = ReadExact(reader, absl::MakeSpan(buffer_));
  EXPECT_EQ(Run(read), absl::OutOfRangeError(
                           "ReadExact: the stream ended after 3 of 4 bytes"));
  EXPECT_EQ(read.filled(), 3u);
}

TEST_F(ReadExactTest, AnErrorIsPassedOn) {
  ScriptedReader reader;
  reader.Bytes("a").Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(ReadExact(reader, absl::MakeSpan(buffer_))),
            absl::UnavailableError("reset"));
}

TEST_F(ReadExactTest, ACancelledReadHasFilledTheFront) {
  ScriptedReader reader;
  reader.Bytes("ab").Pending().Bytes("cd");
  size_t filled;
  {
    auto read = ReadExact(reader, absl::MakeSpan(buffer_));
    ASSERT_TRUE(Poll(read).IsPending());
    filled = read.filled();
  }
  ASSERT_EQ(filled, 2u);
  ASSERT_TRUE(
      Run(ReadExact(reader, absl::MakeSpan(buffer_).subspan(filled))).ok());
  EXPECT_EQ(std::string_view(buffer_, 4), "abcd");
}

TEST_F(ReadExactTest, PollingACompleteReadPanics) {
  ScriptedReader reader;
  auto read = ReadExact(reader, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "ReadExact was polled after");
}

}  // namespace
}  // namespace rouse
