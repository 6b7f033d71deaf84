// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/searched_size.h"

#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/codec/any_delimiter_codec.h"
#include "rouse/io/framed.h"
#include "rouse/io/line_codec.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

// Is default-constructible, as the tests need.
class AnyLineCodec : public AnyDelimiterCodec {
 public:
  AnyLineCodec() : AnyDelimiterCodec("\n", "\n") {}
};

// The codecs with a `SearchedSize`. A codec must not take other bytes for the
// bytes that it has searched.
template <class C>
class SearchedSizeTest : public IoTest {};
using Codecs = ::testing::Types<LineCodec, AnyLineCodec>;
TYPED_TEST_SUITE(SearchedSizeTest, Codecs);

TYPED_TEST(SearchedSizeTest, ACodecThatIsHandedOnSearchesAllBytes) {
  TypeParam codec;
  std::string_view bytes = "abcdef";
  EXPECT_EQ(Describe(codec.Decode(bytes)), "");
  bytes = "x\nyz\n12345";
  TypeParam copy = codec;
  EXPECT_EQ(Describe(copy.Decode(bytes)), "'x'");
  bytes = "abcdef";
  EXPECT_EQ(Describe(codec.Decode(bytes)), "");
  TypeParam moved = std::move(codec);
  bytes = "x\nyz\n12345";
  EXPECT_EQ(Describe(moved.Decode(bytes)), "'x'");
  EXPECT_EQ(Describe(moved.Decode(bytes)), "'yz'");
  EXPECT_EQ(Describe(moved.Decode(bytes)), "");
  copy = std::move(moved);
  bytes = "a\nb";
  EXPECT_EQ(Describe(copy.Decode(bytes)), "'a'");
}

TYPED_TEST(SearchedSizeTest, PartsContinueWithOtherBytes) {
  ScriptedReader reader;
  reader.Bytes("abcdef").Pending(/*wakes=*/false);
  Framed frames(reader, TypeParam());
  ASSERT_TRUE(this->task_.PollNext(frames).IsPending());
  FramedParts parts = std::move(frames).IntoParts();
  EXPECT_EQ(parts.read, "abcdef");
  parts.read = "1\n2\n3456789";
  Framed others(std::move(parts));
  EXPECT_EQ(this->Run(Next(others))->value(), "1");
  EXPECT_EQ(this->Run(Next(others))->value(), "2");
}

}  // namespace
}  // namespace rouse
