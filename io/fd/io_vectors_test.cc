// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/io_vectors.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

using internal::IoVectors;

TEST(IoVectorsTest, LeavesOutEmptyParts) {
  const std::string_view parts[] = {"", "ab", "", "c"};
  IoVectors vectors(parts);
  ASSERT_EQ(vectors.size(), 2);
  EXPECT_EQ(vectors.data()[0].iov_base, parts[1].data());
  EXPECT_EQ(vectors.data()[0].iov_len, 2u);
  EXPECT_EQ(vectors.data()[1].iov_base, parts[3].data());
  EXPECT_EQ(vectors.data()[1].iov_len, 1u);
}

TEST(IoVectorsTest, IsEmptyWithoutParts) {
  EXPECT_EQ(IoVectors(absl::Span<const std::string_view>()).size(), 0);
  const std::string_view empty[] = {"", ""};
  EXPECT_EQ(IoVectors(empty).size(), 0);
}

TEST(IoVectorsTest, TakesTheFirstPartsThatFitWithoutEmptyOnes) {
  const std::string_view bytes = "0123456789";
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < 2 * IoVectors::kMaxParts; ++i) {
    parts.push_back(bytes.substr(i % 10, 1));
    parts.emplace_back();
  }
  IoVectors vectors(parts);
  ASSERT_EQ(vectors.size(), static_cast<int>(IoVectors::kMaxParts));
  for (int i = 0; i < vectors.size(); ++i) {
    EXPECT_EQ(vectors.data()[i].iov_base, bytes.data() + i % 10);
  }
}

TEST(IoVectorsTest, TakesBuffersLikeParts) {
  char bytes[8];
  std::vector<absl::Span<char>> buffers = {absl::Span<char>(),
                                           absl::MakeSpan(bytes, 3),
                                           absl::MakeSpan(bytes + 4, 4)};
  IoVectors vectors(buffers);
  ASSERT_EQ(vectors.size(), 2);
  EXPECT_EQ(vectors.data()[0].iov_base, bytes);
  EXPECT_EQ(vectors.data()[1].iov_base, bytes + 4);
  EXPECT_EQ(vectors.bytes(), 7u);
  buffers.assign(2 * IoVectors::kMaxParts, absl::MakeSpan(bytes, 1));
  EXPECT_EQ(IoVectors(buffers).bytes(), IoVectors::kMaxParts);
}

}  // namespace
}  // namespace rouse
