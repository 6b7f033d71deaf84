// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/number/write_number.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/number/read_number.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using namespace std::string_view_literals;

static_assert(Future<WriteNumberFuture<ScriptedWriter>>);

class WriteNumberTest : public IoTest {
 protected:
  // Returns the bytes written since the last call.
  std::string Written() {
    const std::string all = writer_.written();
    return all.substr(std::exchange(seen_, all.size()));
  }

  ScriptedWriter writer_;

 private:
  size_t seen_ = 0;
};

TEST_F(WriteNumberTest, TheMostSignificantByteComesFirst) {
  ASSERT_TRUE(Run(WriteU8(writer_, 1)).ok());
  ASSERT_TRUE(Run(WriteI8(writer_, -1)).ok());
  EXPECT_EQ(Written(), "\x01\xff");
  ASSERT_TRUE(Run(WriteU16(writer_, 0x0102)).ok());
  ASSERT_TRUE(Run(WriteI16(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\x01\x02\xff\xfe");
  ASSERT_TRUE(Run(WriteU32(writer_, 0x01020304)).ok());
  ASSERT_TRUE(Run(WriteI32(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\x01\x02\x03\x04\xff\xff\xff\xfe");
  ASSERT_TRUE(Run(WriteU64(writer_, 0x0102030405060708)).ok());
  EXPECT_EQ(Written(), "\x01\x02\x03\x04\x05\x06\x07\x08");
  ASSERT_TRUE(Run(WriteI64(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\xff\xff\xff\xff\xff\xff\xff\xfe");
  ASSERT_TRUE(Run(WriteF32(writer_, 1.0f)).ok());
  EXPECT_EQ(Written(), "\x3f\x80\0\0"sv);
  ASSERT_TRUE(Run(WriteF64(writer_, -2.5)).ok());
  EXPECT_EQ(Written(), "\xc0\x04\0\0\0\0\0\0"sv);
}

TEST_F(WriteNumberTest, OrTheLeastSignificantByteComesFirst) {
  ASSERT_TRUE(Run(WriteU16Le(writer_, 0x0102)).ok());
  ASSERT_TRUE(Run(WriteI16Le(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\x02\x01\xfe\xff");
  ASSERT_TRUE(Run(WriteU32Le(writer_, 0x01020304)).ok());
  ASSERT_TRUE(Run(WriteI32Le(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\x04\x03\x02\x01\xfe\xff\xff\xff");
  ASSERT_TRUE(Run(WriteU64Le(writer_, 0x0102030405060708)).ok());
  EXPECT_EQ(Written(), "\x08\x07\x06\x05\x04\x03\x02\x01");
  ASSERT_TRUE(Run(WriteI64Le(writer_, -2)).ok());
  EXPECT_EQ(Written(), "\xfe\xff\xff\xff\xff\xff\xff\xff");
  ASSERT_TRUE(Run(WriteF32Le(writer_, 1.0f)).ok());
  EXPECT_EQ(Written(), "\0\0\x80\x3f"sv);
  ASSERT_TRUE(Run(WriteF64Le(writer_, -2.5)).ok());
  EXPECT_EQ(Written(), "\0\0\0\0\0\0\x04\xc0"sv);
}

// The extreme values, and the bits of a NaN, return unchanged.
TEST_F(WriteNumberTest, WhatIsWrittenIsReadAgain) {
  const double nan = std::bit_cast<double>(uint64_t{0x7ff4000000000001});
  ASSERT_TRUE(Run(WriteI64(writer_, std::numeric_limits<int64_t>::min())).ok());
  ASSERT_TRUE(
      Run(WriteU64Le(writer_, std::numeric_limits<uint64_t>::max())).ok());
  ASSERT_TRUE(Run(WriteF64(writer_, nan)).ok());
  ScriptedReader reader(writer_.written());
  EXPECT_EQ(Run(ReadI64(reader)).value(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Run(ReadU64Le(reader)).value(),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(std::bit_cast<uint64_t>(Run(ReadF64(reader)).value()),
            0x7ff4000000000001u);
}

TEST_F(WriteNumberTest, TheTypeAndTheOrderCanBeParameters) {
  ASSERT_TRUE(Run(WriteNumber<uint16_t>(writer_, 0x0102)).ok());
  const auto little = [&] {
    return WriteNumber<uint16_t, std::endian::little>(writer_, 0x0102);
  };
  ASSERT_TRUE(Run(little()).ok());
  EXPECT_EQ(Written(), "\x01\x02\x02\x01");
}

TEST_F(WriteNumberTest, WritesPieces) {
  writer_.TakeAtMost(1);
  writer_.BePendingInTurns();
  ASSERT_TRUE(Run(WriteU32(writer_, 0x01020304)).ok());
  EXPECT_EQ(Written(), "\x01\x02\x03\x04");
}

TEST_F(WriteNumberTest, ACancelledWriteHasWrittenTheFront) {
  writer_.TakeAtMost(3);
  auto write = WriteU32(writer_, 0x01020304);
  EXPECT_EQ(write.left(), 4u);
  writer_.BePendingInTurns();
  ASSERT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(write.left(), 4u);
  ASSERT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(write.left(), 1u);
  EXPECT_EQ(Written(), "\x01\x02\x03");
}

TEST_F(WriteNumberTest, AnErrorIsPassedOn) {
  writer_.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(WriteU16(writer_, 1)), absl::UnavailableError("reset"));
}

TEST_F(WriteNumberTest, AWriterThatTakesNothingIsAnError) {
  writer_.TakeAtMost(0);
  EXPECT_EQ(Run(WriteU16(writer_, 1)).code(), absl::StatusCode::kInternal);
}

TEST_F(WriteNumberTest, PollingACompleteWritePanics) {
  auto write = WriteU8(writer_, 1);
  ASSERT_TRUE(Poll(write).IsReady());
  EXPECT_PANIC((void)Poll(write), "WriteNumber was polled after");
}

}  // namespace
}  // namespace rouse
