// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Frames where allocations fail.

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/framed.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/test_util.h"
#include "rouse/testing/failing_allocations.h"

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::testing::Each;

class FramedMemoryTest : public IoTest {
 protected:
  // Longer than what a string holds without memory.
  const std::string frame_ = std::string(100, 'y');
};

TEST_F(FramedMemoryTest, NoFrameIsTornThatIsNotTaken) {
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

TEST_F(FramedMemoryTest, AFrameThatIsNotGivenIsGivenLater) {
  const std::string_view too_long("\0\0\0\xc8", 4);
  const std::string_view header("\0\0\0\x64", 4);
  std::optional<ScriptedReader> stream;
  std::optional<Framed<ScriptedReader&, LengthCodec>> framed;
  const auto start = [&] {
    framed.reset();
    stream.emplace(too_long);
    // The rest of that, and a frame behind it.
    stream->Bytes(std::string(200, 'x') + std::string(header) + frame_);
    framed.emplace(*stream, LengthCodec(100));
    EXPECT_EQ(Run(Next(*framed))->status().code(),
              absl::StatusCode::kResourceExhausted);
    // Room for what is read.
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

}  // namespace
}  // namespace rouse

#endif
