// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/write_all.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<WriteAllFuture<ScriptedWriter>>);

class WriteAllTest : public IoTest {
 protected:
  ScriptedWriter writer_;
};

TEST_F(WriteAllTest, WritesInPieces) {
  writer_.TakeAtMost(2);
  writer_.BePendingInTurns();
  EXPECT_TRUE(Run(WriteAll(writer_, "abcde")).ok());
  EXPECT_EQ(writer_.written(), "abcde");
  EXPECT_EQ(writer_.writes(), 3);
}

TEST_F(WriteAllTest, WritingZeroBytesIsReadyAtOnce) {
  writer_.Block();
  EXPECT_TRUE(Run(WriteAll(writer_, "")).ok());
}

TEST_F(WriteAllTest, ReturnsTheUnwrittenRest) {
  writer_.TakeAtMost(2);
  writer_.BePendingInTurns();
  auto write = WriteAll(writer_, "abcde");
  EXPECT_EQ(write.left(), 5u);
  ASSERT_TRUE(Poll(write).IsPending());
  ASSERT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(write.left(), 3u);
  EXPECT_EQ(writer_.written(), "ab");
}

TEST_F(WriteAllTest, AnErrorIsPassedOn) {
  writer_.TakeAtMost(2);
  writer_.BePendingInTurns();
  auto write = WriteAll(writer_, "abcde");
  ASSERT_TRUE(Poll(write).IsPending());
  writer_.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(*Poll(write), absl::UnavailableError("reset"));
}

TEST_F(WriteAllTest, AWriterThatAcceptsNoByteIsInternal) {
  writer_.TakeAtMost(0);
  EXPECT_EQ(Run(WriteAll(writer_, "a")).code(), absl::StatusCode::kInternal);
}

TEST_F(WriteAllTest, PollingACompleteWritePanics) {
  auto write = WriteAll(writer_, "abc");
  ASSERT_TRUE(Poll(write).IsReady());
  EXPECT_PANIC((void)Poll(write), "WriteAll was polled after");
}

}  // namespace
}  // namespace rouse
