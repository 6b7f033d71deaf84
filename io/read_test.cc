// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/read.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<ReadFuture<ScriptedReader>>);

class ReadTest : public IoTest {
 protected:
  char buffer_[8];
};

TEST_F(ReadTest, ReadsTheAvailableBytes) {
  ScriptedReader reader;
  reader.Bytes("abc").Bytes("def");
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "abc");
}

TEST_F(ReadTest, WaitsForBytes) {
  ScriptedReader reader;
  reader.Pending().Bytes("x");
  auto read = Read(reader, absl::MakeSpan(buffer_));
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(Poll(read)->value(), 1u);
}

TEST_F(ReadTest, TheEndReadsZeroAndAnErrorIsPassedOn) {
  ScriptedReader reader;
  reader.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 0u);
}

TEST_F(ReadTest, PollingACompleteReadPanics) {
  ScriptedReader reader;
  auto read = Read(reader, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "Read was polled after");
}

TEST_F(ReadTest, ReadsIntoSeveralBuffers) {
  ScriptedReader reader;
  reader.Pending().Bytes("abcd");
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 3),
                                      absl::MakeSpan(buffer_ + 4, 2)};
  auto read = ReadVectored(reader, buffers);
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(Poll(read)->value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "abc");
  EXPECT_PANIC((void)Poll(read), "ReadVectored was polled after");
}

}  // namespace
}  // namespace rouse
