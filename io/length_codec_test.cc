// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/length_codec.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  EXPECT_PANIC(LengthCodec(4, 9), "LengthCodec: length_size must be");
  EXPECT_PANIC(LengthCodec(4, 0), "LengthCodec: length_size must be");
}

TEST(LengthCodecTest, ASkipWithinTheLengthPanics) {
  LengthCodec::Options options;
  options.offset = 2;
  for (const size_t skip : {3, 4, 5}) {
    options.skip = skip;
    EXPECT_PANIC(LengthCodec{options}, "LengthCodec: skip ends within");
  }
  options.skip = 2;
  EXPECT_EQ(Encode(LengthCodec(options), std::string(4, '?')),
            std::string(6, '\0'));
}

TEST(LengthCodecTest, TheLengthHasAnySizeAndEitherOrder) {
  LengthCodec::Options options;
  options.length_size = 3;
  EXPECT_EQ(Encode(LengthCodec(options), "ab"), std::string("\0\0\2ab", 5));
  options.order = std::endian::little;
  const LengthCodec codec(options);
  EXPECT_EQ(Encode(codec, "ab"), std::string("\2\0\0ab", 5));
  const std::string text = Encode(codec, std::string(258, 'x'));
  EXPECT_EQ(text.substr(0, 3), std::string("\2\1\0", 3));
  EXPECT_THAT(DecodeInSteps(codec, text, 7),
              ElementsAre("'" + std::string(258, 'x') + "'"));
}

// The header is "vk" and the length of everything; frames include the header.
TEST(LengthCodecTest, AFrameCanIncludeItsHeader) {
  LengthCodec::Options options;
  options.offset = 2;
  options.length_size = 2;
  options.order = std::endian::little;
  options.adjustment = -4;
  options.skip = 0;
  const LengthCodec codec(options);
  // The caller's length is replaced.
  const std::string first = Encode(codec, "vk??abc");
  EXPECT_EQ(first, std::string("vk\7\0abc", 7));
  const std::string text = absl::StrCat(first, Encode(codec, "vk??"));
  for (size_t step = 1; step <= text.size(); ++step) {
    EXPECT_THAT(
        DecodeInSteps(codec, text, step),
        ElementsAre("'" + first + "'", "'" + std::string("vk\4\0", 4) + "'"));
  }
  std::string out;
  EXPECT_EQ(codec.Encode("vk?", out).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out, "");
}

// The length does not count the three bytes of a checksum, which are skipped
// together with the header.
TEST(LengthCodecTest, BytesBehindTheLengthCanBeSkipped) {
  LengthCodec::Options options;
  options.offset = 1;
  options.length_size = 1;
  options.adjustment = 3;
  options.skip = 5;
  const LengthCodec codec(options);
  EXPECT_EQ(Encode(codec, "ab"), std::string("\0\2\0\0\0ab", 7));
  EXPECT_THAT(DecodeInSteps(codec, "v\2sumabw\1sumc", 1),
              ElementsAre("'ab'", "'c'"));
}

TEST(LengthCodecTest, TheLimitIsTheSizeOfTheFrame) {
  LengthCodec::Options options;
  options.length_size = 1;
  options.adjustment = -1;
  options.max_size = 3;
  const LengthCodec codec(options);
  for (size_t step = 1; step <= 5; ++step) {
    EXPECT_THAT(DecodeInSteps(codec, "\4abc\5abcd\2x", step),
                ElementsAre("'abc'", "RESOURCE_EXHAUSTED", "'x'"));
  }
}

TEST(LengthCodecTest, ATooSmallLengthIsInvalidAndTakesTheHeader) {
  LengthCodec::Options options;
  options.length_size = 1;
  options.adjustment = -2;
  EXPECT_THAT(DecodeInSteps(LengthCodec(options), "\1\3x", 1),
              ElementsAre("INVALID_ARGUMENT", "'x'"));
  options.adjustment = 0;
  options.skip = 3;
  // One byte follows the length, but two must be skipped.
  EXPECT_THAT(DecodeInSteps(LengthCodec(options), "\1a\3abx", 1),
              ElementsAre("INVALID_ARGUMENT", "'x'"));
}

TEST(LengthCodecTest, ALengthThatCannotBeExpressedIsInvalid) {
  LengthCodec::Options options;
  options.length_size = 1;
  options.adjustment = -2;
  std::string out;
  EXPECT_TRUE(LengthCodec(options).Encode(std::string(253, 'x'), out).ok());
  out.clear();
  EXPECT_EQ(LengthCodec(options).Encode(std::string(254, 'x'), out).code(),
            absl::StatusCode::kInvalidArgument);
  options.adjustment = 2;
  EXPECT_EQ(LengthCodec(options).Encode("x", out).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out, "");
}

// No sum of a length and an adjustment wraps around.
TEST(LengthCodecTest, ExtremeNumbersAreErrors) {
  LengthCodec::Options options;
  options.length_size = 8;
  for (const int64_t adjustment : {std::numeric_limits<int64_t>::max(),
                                   std::numeric_limits<int64_t>::min()}) {
    options.adjustment = adjustment;
    LengthCodec codec(options);
    const std::string largest(8, '\xff');
    std::string_view bytes = largest;
    EXPECT_EQ(codec.Decode(bytes).status().code(),
              absl::StatusCode::kResourceExhausted);
    std::string out;
    const absl::Status status = codec.Encode("x", out);
    EXPECT_EQ(status.ok(), adjustment < 0);
    LengthCodec other(options);
    const std::string zeros(8, '\0');
    bytes = zeros;
    EXPECT_EQ(other.Decode(bytes).status().code(),
              adjustment < 0 ? absl::StatusCode::kInvalidArgument
                             : absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace rouse
