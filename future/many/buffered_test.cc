// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/buffered.h"

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/iter.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using Leaf = Switch<int>::Leaf;

class BufferedTest : public ::testing::Test {
 protected:
  // Polls the stream once. Returns -1 for a pending poll, and 0 for the end.
  template <class S>
  int PollNextOnce(S& stream) {
    auto next = Next(stream);
    PollResult<std::optional<int>> item = PollOnce(next);
    return item.IsPending() ? -1 : item->value_or(0);
  }

  // Returns a stream of futures of all switches. Counts how many were taken.
  auto Futures() {
    return Map(Iter(std::vector<int>{0, 1, 2, 3}), [this](int i) {
      ++taken_;
      return switches_[i].future();
    });
  }

  std::array<Switch<int>, 4> switches_;
  int taken_ = 0;
};

TEST_F(BufferedTest, RunsAtMostTheLimitAtOnce) {
  auto stream = BufferUnordered(Futures(), 2);
  EXPECT_EQ(PollNextOnce(stream), -1);
  EXPECT_EQ(taken_, 2);
  switches_[1].Set(2);
  EXPECT_EQ(PollNextOnce(stream), 2);
  EXPECT_EQ(taken_, 2);
  EXPECT_EQ(PollNextOnce(stream), -1);
  EXPECT_EQ(taken_, 3);
  switches_[0].Set(1);
  switches_[2].Set(3);
  EXPECT_EQ(PollNextOnce(stream), 1);
  EXPECT_EQ(PollNextOnce(stream), 3);
  EXPECT_EQ(taken_, 4);
  switches_[3].Set(4);
  EXPECT_EQ(PollNextOnce(stream), 4);
  EXPECT_EQ(PollNextOnce(stream), 0);
}

TEST_F(BufferedTest, AnOutputThatWaitsForItsTurnCounts) {
  auto stream = Buffered(Futures(), 2);
  EXPECT_EQ(PollNextOnce(stream), -1);
  switches_[1].Set(2);
  EXPECT_EQ(PollNextOnce(stream), -1);
  EXPECT_EQ(taken_, 2);
  switches_[0].Set(1);
  EXPECT_EQ(PollNextOnce(stream), 1);
  EXPECT_EQ(PollNextOnce(stream), 2);
  EXPECT_EQ(taken_, 3);
}

TEST_F(BufferedTest, WaitsForAStreamThatHasNoFutureYet) {
  Switch<int> more;
  auto gen = [](Switch<int>& more, Switch<int>& s) -> Gen<Leaf> {
    const int count = co_await more.future();
    for (int i = 0; i < count; ++i) co_yield s.future();
  };
  auto stream = BufferUnordered(gen(more, switches_[0]), 3);
  EXPECT_EQ(PollNextOnce(stream), -1);
  switches_[0].Set(9);
  more.Set(1);
  EXPECT_EQ(PollNextOnce(stream), 9);
  EXPECT_EQ(PollNextOnce(stream), 0);
}

TEST_F(BufferedTest, DestructionCancelsTheFutures) {
  {
    auto stream = Buffered(Futures(), 2);
    EXPECT_EQ(PollNextOnce(stream), -1);
    EXPECT_TRUE(switches_[1].alive());
  }
  EXPECT_FALSE(switches_[0].alive());
  EXPECT_FALSE(switches_[1].alive());
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(BufferedTest, ContinuesAfterAnException) {
  auto body = [](int i) -> Co<int> {
    if (i < 2) throw std::runtime_error("child");
    co_return i;
  };
  for (const size_t limit : {1, 2}) {
    auto stream =
        Buffered(Map(Iter(std::vector<int>{0, 1, 2, 3}), body), limit);
    EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
    EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
    EXPECT_EQ(PollNextOnce(stream), 2);
    EXPECT_EQ(PollNextOnce(stream), 3);
    EXPECT_EQ(PollNextOnce(stream), 0);
  }
}

TEST_F(BufferedTest, AFutureThatHasThrownLeavesItsPlaceToAnother) {
  auto body = [this](int i) -> Co<int> {
    ++taken_;
    if (i == 0) throw std::runtime_error("child");
    co_return co_await switches_[i].future();
  };
  auto stream = Buffered(Map(Iter(std::vector<int>{0, 1, 2, 3}), body), 2);
  EXPECT_THROW((void)PollNextOnce(stream), std::runtime_error);
  EXPECT_EQ(PollNextOnce(stream), -1);
  EXPECT_EQ(taken_, 3);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST_F(BufferedTest, ALimitOfZeroPanics) {
  EXPECT_PANIC((void)Buffered(Futures(), 0), "Buffered: the limit is 0");
  EXPECT_PANIC((void)BufferUnordered(Futures(), 0),
               "BufferUnordered: the limit is 0");
}

}  // namespace
}  // namespace rouse
