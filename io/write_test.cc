// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/write.h"

#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<WriteFuture<ScriptedWriter>>);
static_assert(Future<WriteVectoredFuture<ScriptedWriter>>);

class WriteTest : public IoTest {
 protected:
  ScriptedWriter writer_;
};

TEST_F(WriteTest, WritesWhatFits) {
  writer_.TakeAtMost(2);
  EXPECT_EQ(Run(Write(writer_, "abc")).value(), 2u);
  EXPECT_EQ(writer_.written(), "ab");
}

TEST_F(WriteTest, WaitsAndWritesNothingIfCancelled) {
  writer_.Block();
  {
    auto write = Write(writer_, "abc");
    EXPECT_TRUE(Poll(write).IsPending());
  }
  EXPECT_EQ(writer_.written(), "");
}

TEST_F(WriteTest, WritesPartsInOneCall) {
  const std::string_view parts[] = {"ab", "", "cd"};
  EXPECT_EQ(Run(WriteVectored(writer_, parts)).value(), 4u);
  EXPECT_EQ(writer_.written(), "abcd");
  EXPECT_EQ(writer_.writes(), 1);
}

TEST_F(WriteTest, AnErrorIsPassedOn) {
  writer_.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Write(writer_, "abc")).status(),
            absl::UnavailableError("reset"));
}

TEST_F(WriteTest, PollingACompleteWritePanics) {
  auto write = Write(writer_, "abc");
  ASSERT_TRUE(Poll(write).IsReady());
  EXPECT_PANIC((void)Poll(write), "Write was polled after");
  const std::string_view parts[] = {"ab"};
  auto vectored = WriteVectored(writer_, parts);
  ASSERT_TRUE(Poll(vectored).IsReady());
  EXPECT_PANIC((void)Poll(vectored), "WriteVectored was polled after");
}

}  // namespace
}  // namespace rouse
