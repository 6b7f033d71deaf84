// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/fuse.h"

#include <stdexcept>
#include <utility>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

TEST(Fuse, IsReadyOnceAndThenPending) {
  Switch<int> s;
  auto fuse = Fuse(s.future());
  static_assert(Future<decltype(fuse)>);
  EXPECT_TRUE(PollOnce(fuse).IsPending());
  EXPECT_FALSE(fuse.IsFinished());
  s.Set(1);
  EXPECT_EQ(PollOnce(fuse).value(), 1);
  EXPECT_TRUE(fuse.IsFinished());
  EXPECT_FALSE(s.alive());
  EXPECT_TRUE(PollOnce(fuse).IsPending());
}

TEST(Fuse, CanBeSelectedOnAfterItHasWon) {
  auto fuse = Fuse(Ready(1));
  for (size_t winner : {0u, 1u, 1u}) {
    auto select = SelectBiased(fuse, Ready());
    EXPECT_EQ(PollOnce(select).value().index(), winner);
  }
}

TEST(Fuse, ContinuesWithAnotherFuture) {
  Switch<int> first, second;
  auto fuse = Fuse(first.future());
  EXPECT_TRUE(PollOnce(fuse).IsPending());
  fuse.Reset(second.future());
  EXPECT_FALSE(first.alive());
  second.Set(2);
  EXPECT_EQ(PollOnce(fuse).value(), 2);
  fuse.Reset();
  EXPECT_TRUE(PollOnce(fuse).IsPending());
}

TEST(Fuse, BeginsFinished) {
  FuseFuture<ReadyFuture<int>> fuse;
  EXPECT_TRUE(fuse.IsFinished());
  EXPECT_TRUE(PollOnce(fuse).IsPending());
  fuse.Reset(Ready(3));
  EXPECT_EQ(PollOnce(fuse).value(), 3);
}

TEST(Fuse, PollsAnLvalueInPlace) {
  Switch<int> s;
  auto leaf = s.future();
  auto fuse = Fuse(leaf);
  s.Set(1);
  EXPECT_EQ(PollOnce(fuse).value(), 1);
  EXPECT_TRUE(s.alive());
  EXPECT_TRUE(PollOnce(fuse).IsPending());
  EXPECT_EQ(s.polls(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(Fuse, IsFinishedByAnException) {
  auto thrower = []() -> Co<> {
    throw std::runtime_error("x");
    co_return;
  };
  auto fuse = Fuse(thrower);
  EXPECT_THROW(static_cast<void>(PollOnce(fuse)), std::runtime_error);
  EXPECT_TRUE(fuse.IsFinished());
  EXPECT_TRUE(PollOnce(fuse).IsPending());
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
