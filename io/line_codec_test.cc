// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/line_codec.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/codec.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Codec<LineCodec>);

TEST(LineCodecTest, LinesEndWithLfOrCrLfHoweverTheyAreSplit) {
  for (size_t step = 1; step < 30; ++step) {
    EXPECT_THAT(
        DecodeInSteps(LineCodec(), "one\ntwo\r\n\n\r\nthr\ree\nlast", step),
        ElementsAre("'one'", "'two'", "''", "''", "'thr\ree'", "'last'"))
        << step;
    EXPECT_THAT(DecodeInSteps(LineCodec(), "one\n", step),
                ElementsAre("'one'"));
    EXPECT_THAT(DecodeInSteps(LineCodec(), "", step), ElementsAre());
  }
}

TEST(LineCodecTest, ATooLongLineIsOneErrorHoweverItIsSplit) {
  for (size_t step = 1; step < 40; ++step) {
    EXPECT_THAT(
        DecodeInSteps(LineCodec(4), "1234\n12345\n1234\r\n1234567890\nx", step),
        ElementsAre("'1234'", "RESOURCE_EXHAUSTED", "'1234'",
                    "RESOURCE_EXHAUSTED", "'x'"))
        << step;
    EXPECT_THAT(DecodeInSteps(LineCodec(4), "1234567890", step),
                ElementsAre("RESOURCE_EXHAUSTED"));
    EXPECT_THAT(DecodeInSteps(LineCodec(4), "12345", step),
                ElementsAre("RESOURCE_EXHAUSTED"));
  }
}

TEST(LineCodecTest, TheLargestLimitIsNoLimit) {
  constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
  EXPECT_THAT(DecodeInSteps(LineCodec(kNoLimit), "one\ntwo\n", 2),
              ElementsAre("'one'", "'two'"));
}

TEST(LineCodecTest, KeepsAtMostTheLimit) {
  LineCodec codec(100);
  std::string buffer;
  for (int i = 0; i < 1000; ++i) {
    buffer += "0123456789";
    std::string_view bytes = buffer;
    codec.Decode(bytes).status().IgnoreError();
    buffer = std::string(bytes);
    ASSERT_LE(buffer.size(), 101u);
  }
}

TEST(LineCodecTest, TheEndAlsoEndsALineThatIsTooLong) {
  LineCodec codec(4);
  std::string_view bytes = "12345678";
  EXPECT_EQ(codec.DecodeEnd(bytes).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*codec.DecodeEnd(bytes), std::nullopt);
  bytes = "next\n";
  EXPECT_EQ(*codec.Decode(bytes), "next");
}

TEST(LineCodecTest, EncodesLines) {
  std::string out = "before\n";
  EXPECT_TRUE(LineCodec().Encode("one", out).ok());
  EXPECT_TRUE(LineCodec().Encode("", out).ok());
  EXPECT_TRUE(LineCodec(3).Encode("two", out).ok());
  EXPECT_EQ(out, "before\none\n\ntwo\n");
}

TEST(LineCodecTest, EncodingALineBreakIsInvalidArgument) {
  std::string out;
  for (const std::string_view line : {"a\nb", "a\n", "a\r", "\r\n", "abcde"}) {
    EXPECT_EQ(LineCodec(4).Encode(line, out).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace rouse
