// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/poll_fn.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

template <class F>
concept CanPoll = requires(F poll) { PollFn(poll); };

static_assert(CanPoll<PollResult<int> (*)(Context&)>);
static_assert(!CanPoll<PollResult<int> (*)()>);
static_assert(!CanPoll<int (*)(Context&)>);

TEST(PollFn, PollsTheCallable) {
  int polls = 0;
  auto future = PollFn([&polls](Context&) -> PollResult<int> {
    if (++polls < 3) return kPending;
    return polls;
  });
  EXPECT_TRUE(PollOnce(future).IsPending());
  EXPECT_TRUE(PollOnce(future).IsPending());
  EXPECT_EQ(PollOnce(future).value(), 3);
}

TEST(PollFn, PassesItsContext) {
  auto poll = [](Context& cx) -> PollResult<const Waker*> {
    return &cx.waker();
  };
  auto future = PollFn(poll);
  const Waker waker;
  Context cx(waker);
  EXPECT_EQ(future.Poll(cx).value(), &waker);
}

TEST(PollFn, KeepsAMoveOnlyCallable) {
  auto owned = std::make_unique<int>(4);
  auto poll = [owned = std::move(owned)](Context&) -> PollResult<int&> {
    return *owned;
  };
  auto body = [](auto poll) -> Co<int> {
    co_return co_await PollFn(std::move(poll));
  };
  Co<int> co = body(std::move(poll));
  EXPECT_EQ(PollOnce(co).value(), 4);
}

}  // namespace
}  // namespace rouse
