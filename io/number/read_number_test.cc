// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/number/read_number.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/duplex.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(
    Future<ReadNumberFuture<ScriptedReader, uint16_t, std::endian::big>>);

class ReadNumberTest : public IoTest {};

TEST_F(ReadNumberTest, TheMostSignificantByteComesFirst) {
  using namespace std::string_view_literals;
  ScriptedReader reader(
      "\x01\xff\x01\x02\xff\xfe\x01\x02\x03\x04\xff\xff\xff\xfe"
      "\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff\xff\xff\xff\xff\xff\xfe"
      "\x3f\x80\0\0\xc0\x04\0\0\0\0\0\0"sv);
  EXPECT_EQ(Run(ReadU8(reader)).value(), 1);
  EXPECT_EQ(Run(ReadI8(reader)).value(), -1);
  EXPECT_EQ(Run(ReadU16(reader)).value(), 0x0102);
  EXPECT_EQ(Run(ReadI16(reader)).value(), -2);
  EXPECT_EQ(Run(ReadU32(reader)).value(), 0x01020304u);
  EXPECT_EQ(Run(ReadI32(reader)).value(), -2);
  EXPECT_EQ(Run(ReadU64(reader)).value(), 0x0102030405060708u);
  EXPECT_EQ(Run(ReadI64(reader)).value(), -2);
  EXPECT_EQ(Run(ReadF32(reader)).value(), 1.0f);
  EXPECT_EQ(Run(ReadF64(reader)).value(), -2.5);
}

TEST_F(ReadNumberTest, OrTheLeastSignificantByteComesFirst) {
  using namespace std::string_view_literals;
  ScriptedReader reader(
      "\x02\x01\xfe\xff\x04\x03\x02\x01\xfe\xff\xff\xff"
      "\x08\x07\x06\x05\x04\x03\x02\x01\xfe\xff\xff\xff\xff\xff\xff\xff"
      "\0\0\x80\x3f\0\0\0\0\0\0\x04\xc0"sv);
  EXPECT_EQ(Run(ReadU16Le(reader)).value(), 0x0102);
  EXPECT_EQ(Run(ReadI16Le(reader)).value(), -2);
  EXPECT_EQ(Run(ReadU32Le(reader)).value(), 0x01020304u);
  EXPECT_EQ(Run(ReadI32Le(reader)).value(), -2);
  EXPECT_EQ(Run(ReadU64Le(reader)).value(), 0x0102030405060708u);
  EXPECT_EQ(Run(ReadI64Le(reader)).value(), -2);
  EXPECT_EQ(Run(ReadF32Le(reader)).value(), 1.0f);
  EXPECT_EQ(Run(ReadF64Le(reader)).value(), -2.5);
}

TEST_F(ReadNumberTest, TheTypeAndTheOrderCanBeParameters) {
  ScriptedReader reader("\x01\x02\x01\x02");
  EXPECT_EQ(Run(ReadNumber<uint16_t>(reader)).value(), 0x0102);
  const auto little =
      Run(ReadNumber<uint16_t, std::endian::little>(reader)).value();
  EXPECT_EQ(little, 0x0201);
}

TEST_F(ReadNumberTest, GathersPiecesAndLeavesTheBytesBehind) {
  ScriptedReader reader;
  reader.Bytes("\x01").Pending().Bytes("\x02\x03").Pending().Bytes("\x04\x05");
  EXPECT_EQ(Run(ReadU32(reader)).value(), 0x01020304u);
  EXPECT_EQ(Run(ReadU8(reader)).value(), 5);
}

TEST_F(ReadNumberTest, AnEarlyEndIsOutOfRange) {
  ScriptedReader reader("\x01\x02\x03");
  EXPECT_EQ(
      Run(ReadU32(reader)).status(),
      absl::OutOfRangeError("ReadNumber: the stream ended after 3 of 4 bytes"));
  EXPECT_EQ(
      Run(ReadU8(reader)).status(),
      absl::OutOfRangeError("ReadNumber: the stream ended after 0 of 1 bytes"));
}

TEST_F(ReadNumberTest, AnErrorIsPassedOn) {
  ScriptedReader reader;
  reader.Bytes("\x01").Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(ReadU16(reader)).status(), absl::UnavailableError("reset"));
}

TEST_F(ReadNumberTest, APendingReadShowsTheBytesThatCancellingWouldLose) {
  ScriptedReader reader;
  reader.Bytes("ab").Pending().Bytes("c");
  auto read = ReadU32(reader);
  EXPECT_TRUE(read.filled().empty());
  ASSERT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(std::string_view(read.filled().data(), read.filled().size()), "ab");
}

TEST_F(ReadNumberTest, CanBeMovedBeforeTheFirstPoll) {
  auto [a, b] = Duplex(16);
  auto read = ReadU16(a);
  auto moved = std::move(read);
  ASSERT_TRUE(Poll(moved).IsPending());
  {
    Context cx(task_.waker());
    ASSERT_TRUE(b.PollWrite(cx, "\x01\x02").IsReady());
  }
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Run(moved).value(), 0x0102);
}

TEST_F(ReadNumberTest, PollingACompleteReadPanics) {
  ScriptedReader reader("\x01");
  auto read = ReadU8(reader);
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "ReadNumber was polled after");
}

}  // namespace
}  // namespace rouse
