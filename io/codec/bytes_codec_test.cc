// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/bytes_codec.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/codec.h"
#include "rouse/io/framed.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Codec<BytesCodec>);

class BytesCodecTest : public IoTest {};

TEST_F(BytesCodecTest, AFrameIsWhatHasArrived) {
  EXPECT_THAT(DecodeInSteps(BytesCodec(), "abcde", 2),
              ElementsAre("'ab'", "'cd'", "'e'"));
  EXPECT_THAT(DecodeInSteps(BytesCodec(), "", 2), ElementsAre());
}

TEST_F(BytesCodecTest, TheEndReturnsTheLastBytes) {
  BytesCodec codec;
  std::string_view bytes = "rest";
  EXPECT_EQ(Describe(codec.DecodeEnd(bytes)), "'rest'");
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(Describe(codec.DecodeEnd(bytes)), "");
}

TEST_F(BytesCodecTest, WritesBytesAsTheyAre) {
  ScriptedWriter writer;
  Framed frames(writer, BytesCodec());
  ASSERT_TRUE(Run(frames.Send("ab\n")).ok());
  ASSERT_TRUE(Run(frames.Send("")).ok());
  ASSERT_TRUE(Run(frames.Send("c")).ok());
  EXPECT_EQ(writer.written(), "ab\nc");
}

TEST_F(BytesCodecTest, AStreamOfBytesIsAStreamOfFrames) {
  ScriptedReader reader;
  reader.Bytes("ab").Pending().Bytes("c");
  Framed frames(reader, BytesCodec());
  EXPECT_EQ(Run(Next(frames))->value(), "ab");
  EXPECT_EQ(Run(Next(frames))->value(), "c");
  EXPECT_FALSE(Run(Next(frames)).has_value());
}

}  // namespace
}  // namespace rouse
