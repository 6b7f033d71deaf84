// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/ready.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace rouse::reactor {
namespace {

TEST(Ready, IsEmptyAtFirst) { EXPECT_TRUE(Ready().IsEmpty()); }

TEST(Ready, HasItsParts) {
  Ready ready = Ready::kReadable | Ready::kWriteClosed;
  EXPECT_TRUE(ready.IsReadable());
  EXPECT_TRUE(ready.IsWriteClosed());
  EXPECT_FALSE(ready.IsWritable());
  EXPECT_FALSE(ready.IsReadClosed());
  ready |= Ready::kError | Ready::kPriority;
  EXPECT_TRUE(ready.IsError());
  EXPECT_TRUE(ready.IsPriority());
}

TEST(Ready, ConvertsToAndFromBits) {
  const Ready ready = Ready::kReadClosed | Ready::kError;
  EXPECT_EQ(Ready::FromBits(ready.bits()), ready);
}

TEST(Ready, ConcernsADirection) {
  const Ready ready = Ready::kReadable | Ready::kWritable | Ready::kWriteClosed;
  EXPECT_EQ(Concerning(Direction::kRead, ready), Ready::kReadable);
  EXPECT_EQ(Concerning(Direction::kWrite, ready),
            Ready::kWritable | Ready::kWriteClosed);
}

// R3: an event with only an error wakes the writer too.
TEST(Ready, ErrorConcernsBothDirections) {
  EXPECT_EQ(Concerning(Direction::kRead, Ready::kError), Ready::kError);
  EXPECT_EQ(Concerning(Direction::kWrite, Ready::kError), Ready::kError);
}

TEST(Ready, IsPrinted) {
  EXPECT_EQ(absl::StrCat(Ready()), "none");
  EXPECT_EQ(absl::StrCat(Ready::kWritable), "writable");
  EXPECT_EQ(
      absl::StrCat(Ready::kReadable | Ready::kWritable | Ready::kReadClosed |
                   Ready::kWriteClosed | Ready::kPriority | Ready::kError),
      "readable|writable|read-closed|write-closed|priority|error");
}

TEST(Ready, ADirectionIsPrinted) {
  EXPECT_EQ(absl::StrCat(Direction::kRead, " ", Direction::kWrite),
            "read write");
}

}  // namespace
}  // namespace rouse::reactor
