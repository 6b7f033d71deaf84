// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/any_delimiter_codec.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/codec.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Codec<AnyDelimiterCodec>);

TEST(AnyDelimiterCodecTest, EveryDelimiterEndsAFrame) {
  const AnyDelimiterCodec codec(",;\n", ",");
  const std::string_view text = "a,bc;\n,def\nlast";
  for (size_t step = 1; step <= text.size(); ++step) {
    EXPECT_THAT(DecodeInSteps(codec, text, step),
                ElementsAre("'a'", "'bc'", "''", "''", "'def'", "'last'"));
  }
}

TEST(AnyDelimiterCodecTest, AnyByteCanBeADelimiter) {
  using namespace std::string_view_literals;
  const AnyDelimiterCodec codec("\0\xff"sv, "\0"sv);
  EXPECT_THAT(DecodeInSteps(codec, "a\0b\xff"sv, 1), ElementsAre("'a'", "'b'"));
}

TEST(AnyDelimiterCodecTest, ATooLongFrameIsOneErrorHoweverItIsSplit) {
  const AnyDelimiterCodec codec(",;", ",", 3);
  const std::string_view text = "abc,abcd;x,abcdefgh,,abcde";
  for (size_t step = 1; step <= text.size(); ++step) {
    EXPECT_THAT(DecodeInSteps(codec, text, step),
                ElementsAre("'abc'", "RESOURCE_EXHAUSTED", "'x'",
                            "RESOURCE_EXHAUSTED", "''", "RESOURCE_EXHAUSTED"))
        << step;
  }
}

// Bytes of a too long frame are not kept.
TEST(AnyDelimiterCodecTest, ATooLongFrameIsTakenAsItArrives) {
  AnyDelimiterCodec codec(",", ",", 3);
  std::string_view bytes = "abcd";
  EXPECT_EQ(Describe(codec.Decode(bytes)), "RESOURCE_EXHAUSTED");
  EXPECT_TRUE(bytes.empty());
  bytes = "efgh";
  EXPECT_EQ(Describe(codec.Decode(bytes)), "");
  EXPECT_TRUE(bytes.empty());
}

TEST(AnyDelimiterCodecTest, WrittenFramesEndWithTheTerminator) {
  AnyDelimiterCodec codec("\r\n", "\r\n", 3);
  std::string out;
  ASSERT_TRUE(codec.Encode("abc", out).ok());
  ASSERT_TRUE(codec.Encode("", out).ok());
  EXPECT_EQ(out, "abc\r\n\r\n");
}

TEST(AnyDelimiterCodecTest, AFrameThatWouldBeTornIsInvalid) {
  AnyDelimiterCodec codec(",;", ",", 3);
  std::string out;
  for (const std::string_view frame : {"a;", ",", "abcd"}) {
    EXPECT_EQ(codec.Encode(frame, out).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(out, "");
}

TEST(AnyDelimiterCodecTest, ReaderAndWriterMustAgree) {
  EXPECT_PANIC(AnyDelimiterCodec("", ","), "no delimiters");
  EXPECT_PANIC(AnyDelimiterCodec(",", ""), "the terminator must begin with");
  EXPECT_PANIC(AnyDelimiterCodec(",", ";"), "the terminator must begin with");
}

}  // namespace
}  // namespace rouse
