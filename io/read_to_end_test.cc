// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/read_to_end.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(Future<ReadToEndFuture<ScriptedReader>>);

class ReadToEndTest : public IoTest {};

TEST_F(ReadToEndTest, AppendsAllBytesToTheString) {
  ScriptedReader reader;
  reader.Bytes("abc").Pending().Bytes("def");
  std::string out = "> ";
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), 6u);
  EXPECT_EQ(out, "> abcdef");
}

TEST_F(ReadToEndTest, AnEmptyStreamAppendsNothing) {
  ScriptedReader reader;
  std::string out;
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), 0u);
  EXPECT_EQ(out, "");
}

TEST_F(ReadToEndTest, GrowsTheStringAsNeeded) {
  std::string sent(3'000'000, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  ScriptedReader reader(sent);
  std::string out;
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), sent.size());
  EXPECT_EQ(out, sent);
  // The read takes large pieces.
  EXPECT_LT(reader.polls(), 30);
}

// The bytes by which a string grows are written twice: as zeros, and by the
// read.
TEST_F(ReadToEndTest, AFewBytesDoNotTouchALargeCapacity) {
  ScriptedReader reader("four");
  std::string out;
  out.reserve(size_t{256} << 20);
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), 4u);
  EXPECT_EQ(out, "four");
  EXPECT_LE(reader.largest_room(), size_t{16} << 10);
}

TEST_F(ReadToEndTest, ExactlyTheLimitIsAllowed) {
  ScriptedReader reader("abcd");
  std::string out = "12345";
  EXPECT_EQ(Run(ReadToEnd(reader, out, 4)).value(), 4u);
  EXPECT_EQ(out, "12345abcd");
}

TEST_F(ReadToEndTest, MoreThanTheLimitIsResourceExhausted) {
  ScriptedReader reader("abcdefgh");
  std::string out;
  EXPECT_EQ(Run(ReadToEnd(reader, out, 4)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(out, "abcde");
}

TEST_F(ReadToEndTest, BytesBeforeAnErrorAreKept) {
  ScriptedReader reader;
  reader.Bytes("abc").Error(absl::UnavailableError("reset"));
  std::string out;
  EXPECT_EQ(Run(ReadToEnd(reader, out)).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(out, "abc");
}

TEST_F(ReadToEndTest, ACancelledReadLosesNothing) {
  ScriptedReader reader;
  reader.Bytes("abc").Pending().Bytes("def");
  std::string out;
  {
    auto read = ReadToEnd(reader, out);
    ASSERT_TRUE(Poll(read).IsPending());
  }
  EXPECT_EQ(out, "abc");
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), 3u);
  EXPECT_EQ(out, "abcdef");
}

TEST_F(ReadToEndTest, AnUnpolledReadChangesNothing) {
  ScriptedReader reader("abc");
  std::string out = "1";
  {
    auto read = ReadToEnd(reader, out);
    auto moved = std::move(read);
  }
  EXPECT_EQ(out, "1");
  EXPECT_EQ(reader.polls(), 0);
}

TEST_F(ReadToEndTest, PollingACompleteReadPanics) {
  ScriptedReader reader;
  std::string out;
  auto read = ReadToEnd(reader, out);
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "ReadToEnd was polled after");
}

}  // namespace
}  // namespace rouse
