// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/scheduled_timer.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

using State = ScheduledTimer::State;
using Armed = ScheduledTimer::Armed;

Instant At(int milliseconds) {
  return Instant() + absl::Milliseconds(milliseconds);
}

State Look(ScheduledTimer& node) { return node.Poll(Waker()); }

TEST(ScheduledTimer, WaitsAtFirst) {
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  EXPECT_EQ(Look(*node), State::kWaiting);
  EXPECT_EQ(node->deadline(), At(10));
  EXPECT_FALSE(node->registration().slot.has_value());
  ASSERT_TRUE(node->Look().has_value());
  EXPECT_EQ(node->Look()->deadline, At(10));
}

TEST(ScheduledTimer, FiresOnceAndWakes) {
  CountingWaker task;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  EXPECT_EQ(node->Poll(task.NewWaker()), State::kWaiting);
  const Armed armed = *node->Look();
  node->Fire(armed.generation);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Look(*node), State::kFired);
  // Nothing is left to fire.
  EXPECT_FALSE(node->Look().has_value());
  node->Fire(armed.generation);
  EXPECT_EQ(task.wakes(), 1);
}

TEST(ScheduledTimer, AResetOutdatesAnEarlierCheck) {
  CountingWaker task;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  EXPECT_EQ(node->Poll(task.NewWaker()), State::kWaiting);
  const Armed old = *node->Look();
  EXPECT_TRUE(node->Reset(At(20)));
  node->Fire(old.generation);
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(Look(*node), State::kWaiting);
  const Armed armed = *node->Look();
  EXPECT_NE(armed.generation, old.generation);
  EXPECT_EQ(armed.deadline, At(20));
  node->Fire(armed.generation);
  EXPECT_EQ(Look(*node), State::kFired);
}

TEST(ScheduledTimer, AResetUndoesAFire) {
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  node->Fire(node->Look()->generation);
  EXPECT_TRUE(node->Reset(At(20)));
  EXPECT_EQ(Look(*node), State::kWaiting);
  EXPECT_EQ(node->Look()->deadline, At(20));
}

TEST(ScheduledTimer, IsInvalidPermanently) {
  CountingWaker task;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  EXPECT_EQ(node->Poll(task.NewWaker()), State::kWaiting);
  const Armed armed = *node->Look();
  node->Invalidate();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(Look(*node), State::kInvalid);
  node->Fire(armed.generation);
  EXPECT_EQ(Look(*node), State::kInvalid);
  EXPECT_FALSE(node->Look().has_value());
  EXPECT_FALSE(node->Reset(At(20)));
  EXPECT_EQ(Look(*node), State::kInvalid);
  node->Invalidate();
  EXPECT_EQ(task.wakes(), 1);
}

// A fired node stays fired, unless it is then reset.
TEST(ScheduledTimer, AFiredNodeIsInvalidOnceItIsReset) {
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  node->Fire(node->Look()->generation);
  node->Invalidate();
  EXPECT_EQ(Look(*node), State::kFired);
  EXPECT_FALSE(node->Reset(At(20)));
  EXPECT_EQ(Look(*node), State::kInvalid);
}

TEST(ScheduledTimer, ACancelledNodeDropsItsWaker) {
  CountingWaker task;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  EXPECT_EQ(node->Poll(task.NewWaker()), State::kWaiting);
  const Armed armed = *node->Look();
  EXPECT_TRUE(node->Cancel());
  EXPECT_EQ(task.live(), 0);
  node->Fire(armed.generation);
  node->Invalidate();
  EXPECT_FALSE(node->Look().has_value());
  EXPECT_EQ(task.wakes(), 0);
}

TEST(ScheduledTimer, CancellingAFiredNodeNeedsNoTimer) {
  const Ref<ScheduledTimer> fired = MakeRef<ScheduledTimer>(At(10));
  fired->Fire(fired->Look()->generation);
  EXPECT_FALSE(fired->Cancel());
  const Ref<ScheduledTimer> invalid = MakeRef<ScheduledTimer>(At(10));
  invalid->Invalidate();
  EXPECT_FALSE(invalid->Cancel());
}

// Defect 10 of the seed: on 32 bits the seed's generation has 30 bits. After
// 2^30 resets a node that was checked before all of them would fire.
TEST(ScheduledTimer, Defect10GenerationsDoNotWrapAtThirtyBits) {
  constexpr uint64_t kWrap = uint64_t{1} << 30;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  const Armed old = *node->Look();
  // Stands for the same node, after all resets but one.
  const Ref<ScheduledTimer> later =
      MakeRef<ScheduledTimer>(At(10), old.generation + kWrap - 1);
  EXPECT_TRUE(later->Reset(At(20)));
  later->Fire(old.generation);
  EXPECT_EQ(Look(*later), State::kWaiting);
  EXPECT_EQ(later->Look()->generation, kWrap);
  later->Fire(kWrap);
  EXPECT_EQ(Look(*later), State::kFired);
}

// The last generation does not touch the other bits either.
TEST(ScheduledTimer, TheLastGenerationIsNotSpecial) {
  constexpr uint64_t kLast = (uint64_t{1} << 62) - 1;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10), kLast);
  EXPECT_EQ(Look(*node), State::kWaiting);
  node->Fire(node->Look()->generation);
  EXPECT_EQ(Look(*node), State::kFired);
  EXPECT_TRUE(node->Reset(At(20)));
  EXPECT_EQ(Look(*node), State::kWaiting);
}

}  // namespace
}  // namespace rouse::heap
