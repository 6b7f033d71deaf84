// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/text/read_to_string.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/text/utf8.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

class ReadToStringTest : public IoTest {};

TEST_F(ReadToStringTest, AppendsAllText) {
  ScriptedReader reader;
  reader.Bytes("na\xC3\xAFve ").Pending().Bytes("\xE2\x82\xAC");
  std::string out = "so ";
  EXPECT_EQ(Run(ReadToString(reader, out)).value(), 10u);
  EXPECT_EQ(out, "so na\xC3\xAFve \xE2\x82\xAC");
  EXPECT_EQ(Run(ReadToString(reader, out)).value(), 0u);
}

TEST_F(ReadToStringTest, ACharacterMayArriveInParts) {
  const std::string_view text = "a\xF0\x9F\x98\x80z";
  for (size_t first = 1; first < text.size(); ++first) {
    ScriptedReader reader;
    reader.Bytes(text.substr(0, first)).Bytes(text.substr(first));
    std::string out;
    EXPECT_EQ(Run(ReadToString(reader, out)).value(), text.size());
    EXPECT_EQ(out, text);
  }
}

TEST_F(ReadToStringTest, BytesThatAreNotTextEndTheRead) {
  ScriptedReader reader;
  reader.Bytes("caf\xC3\xA9 ").Bytes("ab\xFF!").Bytes("never read");
  std::string out = "I: ";
  const absl::Status status = Run(ReadToString(reader, out)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "ReadToString: the bytes from 11 on are not text in UTF-8; read "
            "bytes with ReadToEnd()");
  // Nothing is lost.
  EXPECT_EQ(out, "I: caf\xC3\xA9 ab\xFF!");
  EXPECT_EQ(out.substr(0, Utf8PrefixSize(out)), "I: caf\xC3\xA9 ab");
  EXPECT_EQ(Run(ReadToEnd(reader, out)).value(), 10u);
}

TEST_F(ReadToStringTest, TheEndWithinACharacterIsAnError) {
  ScriptedReader reader("ok\xE2\x82");
  std::string out;
  const absl::Status status = Run(ReadToString(reader, out)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out, "ok\xE2\x82");
}

TEST_F(ReadToStringTest, ALimitEndsTheRead) {
  ScriptedReader reader("abcdef");
  std::string out;
  EXPECT_EQ(Run(ReadToString(reader, out, 5)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(out, "abcdef");
  ScriptedReader fits("abcde");
  out.clear();
  EXPECT_EQ(Run(ReadToString(fits, out, 5)).value(), 5u);
}

TEST_F(ReadToStringTest, AnErrorOfTheStreamLeavesTheBytes) {
  ScriptedReader reader;
  reader.Bytes("ab").Error(absl::UnavailableError("reset"));
  std::string out;
  EXPECT_EQ(Run(ReadToString(reader, out)).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(out, "ab");
}

TEST_F(ReadToStringTest, ADestroyedFutureCanBeContinuedWithinACharacter) {
  ScriptedReader reader;
  reader.Bytes("x\xE2\x82").Pending().Bytes("\xACy");
  std::string out;
  {
    auto read = ReadToString(reader, out);
    ASSERT_TRUE(Poll(read).IsPending());
  }
  EXPECT_EQ(out, "x\xE2\x82");
  EXPECT_EQ(Run(ReadToString(reader, out)).value(), 2u);
  EXPECT_EQ(out, "x\xE2\x82\xACy");
}

TEST_F(ReadToStringTest, EarlierBytesAreNotChecked) {
  ScriptedReader reader("text");
  std::string out = "\xFF";
  EXPECT_EQ(Run(ReadToString(reader, out)).value(), 4u);
}

TEST_F(ReadToStringTest, PollingAFinishedFuturePanics) {
  ScriptedReader reader("a");
  std::string out;
  auto read = ReadToString(reader, out);
  ASSERT_TRUE(Poll(read).IsReady());
  EXPECT_PANIC((void)Poll(read), "ReadToString");
}

}  // namespace
}  // namespace rouse
