#include "rouse/io/line_codec.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/codec.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Codec<LineCodec>);

std::string Describe(const absl::StatusOr<std::optional<std::string>>& frame) {
  if (!frame.ok()) return absl::StatusCodeToString(frame.status().code());
  return frame->has_value() ? "'" + **frame + "'" : "";
}

// What comes of `text` if it arrives `step` bytes at a time.
std::vector<std::string> Decode(LineCodec codec, std::string_view text,
                                size_t step) {
  std::vector<std::string> lines;
  std::string buffer;
  while (!text.empty()) {
    buffer += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    for (;;) {
      std::string_view bytes = buffer;
      const std::string line = Describe(codec.Decode(bytes));
      buffer = std::string(bytes);
      if (line.empty()) break;
      lines.push_back(line);
    }
  }
  for (;;) {
    std::string_view bytes = buffer;
    const std::string line = Describe(codec.DecodeEnd(bytes));
    buffer = std::string(bytes);
    if (line.empty()) return lines;
    lines.push_back(line);
  }
}

TEST(LineCodecTest, LinesEndWithEitherEndHoweverTheyArrive) {
  for (size_t step = 1; step < 30; ++step) {
    EXPECT_THAT(
        Decode(LineCodec(), "one\ntwo\r\n\n\r\nthr\ree\nlast", step),
        ElementsAre("'one'", "'two'", "''", "''", "'thr\ree'", "'last'"))
        << step;
    EXPECT_THAT(Decode(LineCodec(), "one\n", step), ElementsAre("'one'"));
    EXPECT_THAT(Decode(LineCodec(), "", step), ElementsAre());
  }
}

TEST(LineCodecTest, ALineThatIsTooLongIsOneErrorHoweverItArrives) {
  for (size_t step = 1; step < 40; ++step) {
    EXPECT_THAT(
        Decode(LineCodec(4), "1234\n12345\n1234\r\n1234567890\nx", step),
        ElementsAre("'1234'", "RESOURCE_EXHAUSTED", "'1234'",
                    "RESOURCE_EXHAUSTED", "'x'"))
        << step;
    EXPECT_THAT(Decode(LineCodec(4), "1234567890", step),
                ElementsAre("RESOURCE_EXHAUSTED"));
    EXPECT_THAT(Decode(LineCodec(4), "12345", step),
                ElementsAre("RESOURCE_EXHAUSTED"));
  }
}

TEST(LineCodecTest, NoMoreIsKeptThanTheLimit) {
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

TEST(LineCodecTest, Encodes) {
  std::string out = "before\n";
  EXPECT_TRUE(LineCodec().Encode("one", out).ok());
  EXPECT_TRUE(LineCodec().Encode("", out).ok());
  EXPECT_TRUE(LineCodec(3).Encode("two", out).ok());
  EXPECT_EQ(out, "before\none\n\ntwo\n");
}

TEST(LineCodecTest, WhatCannotBeOneLineIsInvalidArgument) {
  std::string out;
  for (const std::string_view line : {"a\nb", "a\n", "a\r", "\r\n", "abcde"}) {
    EXPECT_EQ(LineCodec(4).Encode(line, out).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace rouse
