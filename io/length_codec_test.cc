// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/length_codec.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/codec.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Codec<LengthCodec>);

std::string Encode(const LengthCodec& codec, std::string_view frame) {
  std::string out;
  EXPECT_TRUE(codec.Encode(frame, out).ok());
  return out;
}

TEST(LengthCodecTest, EncodesABigEndianLengthPrefix) {
  EXPECT_EQ(Encode(LengthCodec(), "ab"), std::string("\0\0\0\2ab", 6));
  EXPECT_EQ(Encode(LengthCodec(9, 1), "ab"), "\2ab");
  EXPECT_EQ(Encode(LengthCodec(999, 2), std::string(258, 'x')).substr(0, 3),
            "\1\2x");
  EXPECT_EQ(Encode(LengthCodec(9, 8), ""), std::string(8, '\0'));
}

TEST(LengthCodecTest, DecodesFramesHoweverTheyAreSplit) {
  for (const size_t length_size : {1, 2, 4, 8}) {
    const LengthCodec codec(100, length_size);
    const std::string text = absl::StrCat(
        Encode(codec, "one"), Encode(codec, ""), Encode(codec, "three"));
    for (size_t step = 1; step <= text.size(); ++step) {
      EXPECT_THAT(DecodeInSteps(codec, text, step),
                  ElementsAre("'one'", "''", "'three'"));
    }
  }
}

TEST(LengthCodecTest, ATooLongFrameIsOneErrorHoweverItIsSplit) {
  const LengthCodec codec(4);
  const LengthCodec other(100);
  const std::string text =
      absl::StrCat(Encode(codec, "1234"), Encode(other, "12345"),
                   Encode(codec, "x"), Encode(other, std::string(50, 'y')));
  for (size_t step = 1; step <= text.size(); ++step) {
    EXPECT_THAT(DecodeInSteps(codec, text, step),
                ElementsAre("'1234'", "RESOURCE_EXHAUSTED", "'x'",
                            "RESOURCE_EXHAUSTED"))
        << step;
  }
}

TEST(LengthCodecTest, AnEndWithinAFrameIsOutOfRange) {
  const std::string text = Encode(LengthCodec(), "one");
  for (size_t size = 1; size < text.size(); ++size) {
    EXPECT_THAT(DecodeInSteps(LengthCodec(), text.substr(0, size), 100),
                ElementsAre("OUT_OF_RANGE"));
  }
  EXPECT_THAT(DecodeInSteps(LengthCodec(2), text.substr(0, 6), 100),
              ElementsAre("RESOURCE_EXHAUSTED", "OUT_OF_RANGE"));
}

TEST(LengthCodecTest, TheLargestLengthIsRefused) {
  for (const size_t length_size : {1, 2, 4, 8}) {
    LengthCodec codec(100, length_size);
    const std::string text(length_size, '\xff');
    std::string_view bytes = text;
    EXPECT_EQ(codec.Decode(bytes).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
}

TEST(LengthCodecTest, EncodingATooLongFrameIsInvalidArgument) {
  std::string out;
  EXPECT_EQ(LengthCodec(4).Encode("12345", out).code(),
            absl::StatusCode::kInvalidArgument);
  // The length field cannot express the size.
  EXPECT_EQ(LengthCodec(1000, 1).Encode(std::string(256, 'x'), out).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out, "");
}

TEST(LengthCodecTest, UnsupportedLengthSizesPanic) {
  EXPECT_PANIC(LengthCodec(4, 3), "LengthCodec: length_size must be");
  EXPECT_PANIC(LengthCodec(4, 0), "LengthCodec: length_size must be");
}

}  // namespace
}  // namespace rouse
