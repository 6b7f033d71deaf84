// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests frames while allocations fail.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/framed.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/line_codec.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/io_fixture.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::testing::Each;

class FramedMemoryTest : public IoTest {
 protected:
  using Item = std::optional<absl::StatusOr<std::string>>;

  // Checks the items that `codec` makes of `text`, which arrives in two parts,
  // if an allocation for the first item fails.
  template <class C>
  void ExpectEachReturnedOnce(C codec, std::string_view text,
                              const std::vector<std::string>& expected,
                              size_t first_part = std::string_view::npos) {
    std::optional<ScriptedReader> stream;
    std::optional<Framed<ScriptedReader&, C>> framed;
    const auto start = [&] {
      framed.reset();
      stream.emplace(text.substr(0, first_part));
      if (first_part < text.size()) stream->Bytes(text.substr(first_part));
      framed.emplace(*stream, codec);
    };
    start();
    const auto next = [&] { return Run(Next(*framed)); };
    const auto check = [&](std::optional<Item> first) {
      std::vector<std::string> items;
      for (Item item = first.has_value() ? *std::move(first) : next();
           item.has_value(); item = next()) {
        items.push_back(Describe(*std::move(item)));
      }
      EXPECT_EQ(items, expected);
      start();
    };
    EXPECT_GT(FailEachAllocation(next, check), 0);
  }

  // Longer than a string can be without an allocation.
  const std::string frame_ = std::string(100, 'y');
};

TEST_F(FramedMemoryTest, ARefusedFrameIsNotTorn) {
  ScriptedWriter stream;
  Framed framed(stream, LengthCodec());
  const auto feed = [&] { return framed.Feed(frame_).ok(); };
  const auto check = [&](std::optional<bool> fed) {
    EXPECT_EQ(framed.unsent(), fed.has_value() ? 104u : 0u);
    EXPECT_TRUE(Run(framed.Send(frame_)).ok());
  };
  EXPECT_GT(FailEachAllocation(feed, check), 0);
  EXPECT_THAT(DecodeInSteps(LengthCodec(), stream.written(), 7),
              Each("'" + frame_ + "'"));
}

TEST_F(FramedMemoryTest, AFrameIsReturnedAfterMemoryIsFree) {
  const std::string_view too_long("\0\0\0\xc8", 4);
  const std::string_view header("\0\0\0\x64", 4);
  std::optional<ScriptedReader> stream;
  std::optional<Framed<ScriptedReader&, LengthCodec>> framed;
  const auto start = [&] {
    framed.reset();
    stream.emplace(too_long);
    // The rest of the long frame, and a frame behind it.
    stream->Bytes(std::string(200, 'x') + std::string(header) + frame_);
    framed.emplace(*stream, LengthCodec(100));
    EXPECT_EQ(Run(Next(*framed))->status().code(),
              absl::StatusCode::kResourceExhausted);
    // The buffer is empty, so there is room for the next read.
    EXPECT_EQ(framed->buffered(), "");
  };
  start();
  const auto next = [&] { return Run(Next(*framed)); };
  const auto check =
      [&](std::optional<std::optional<absl::StatusOr<std::string>>> frame) {
        if (!frame.has_value()) frame.emplace(Run(Next(*framed)));
        EXPECT_THAT(**frame, IsOkAndHolds(frame_));
        EXPECT_FALSE(Run(Next(*framed)).has_value());
        start();
      };
  EXPECT_GT(FailEachAllocation(next, check), 0);
}

TEST_F(FramedMemoryTest, EachLineIsReturnedOnce) {
  ExpectEachReturnedOnce(LineCodec(100), frame_ + "\nend\n",
                         {"'" + frame_ + "'", "'end'"});
}

TEST_F(FramedMemoryTest, TheLastLineIsReturnedOnce) {
  ExpectEachReturnedOnce(LineCodec(100), frame_, {"'" + frame_ + "'"});
}

TEST_F(FramedMemoryTest, ALineThatIsTooLongIsReportedOnce) {
  // The end of the line has already arrived, arrives later or does not arrive.
  const std::vector<std::string> both = {"RESOURCE_EXHAUSTED", "'end'"};
  ExpectEachReturnedOnce(LineCodec(99), frame_ + "\nend\n", both);
  ExpectEachReturnedOnce(LineCodec(50), frame_ + frame_ + "\nend\n", both, 80);
  ExpectEachReturnedOnce(LineCodec(99), frame_, {"RESOURCE_EXHAUSTED"});
}

TEST_F(FramedMemoryTest, AFrameThatIsTooLongIsReportedOnce) {
  const std::string header("\0\0\0\x64", 4);
  const std::string end(
      "\0\0\0\x03"
      "end",
      7);
  ExpectEachReturnedOnce(LengthCodec(99), header + frame_ + end,
                         {"RESOURCE_EXHAUSTED", "'end'"});
}

TEST_F(FramedMemoryTest, ATruncatedFrameIsReportedOnce) {
  const std::string header("\0\0\0\x64", 4);
  ExpectEachReturnedOnce(LengthCodec(), header + "yyy", {"OUT_OF_RANGE"});
}

}  // namespace
}  // namespace rouse

#endif
