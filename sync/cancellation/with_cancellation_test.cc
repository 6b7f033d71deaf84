// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/cancellation/with_cancellation.h"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/gen.h"
#include "rouse/future/iter.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/future/stream.h"
#include "rouse/sync/cancellation/cancellation_token.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

TEST(WithCancellation, PassesTheOutputOn) {
  const CancellationToken token;
  auto future = WithCancellation(token, Ready(7));
  static_assert(
      std::is_same_v<FutureOutput<decltype(future)>, absl::StatusOr<int>>);
  EXPECT_EQ(*PollOnce(future).value(), 7);
}

TEST(WithCancellation, EndsAFutureWhenTheTokenIsCancelled) {
  const CancellationToken token;
  Switch<int> s;
  CountingWaker task;
  auto future = WithCancellation(token, s.future());
  EXPECT_TRUE(task.Poll(future).IsPending());
  token.Cancel();
  EXPECT_EQ(task.wakes(), 1);
  const absl::StatusOr<int> result = task.Poll(future).value();
  EXPECT_TRUE(absl::IsCancelled(result.status()));
  EXPECT_FALSE(s.alive());
}

TEST(WithCancellation, AReadyFutureWinsOnceItHasBegun) {
  const CancellationToken token;
  Switch<int> s;
  auto future = WithCancellation(token, s.future());
  EXPECT_TRUE(PollOnce(future).IsPending());
  s.Set(7);
  token.Cancel();
  EXPECT_EQ(*PollOnce(future).value(), 7);
}

TEST(WithCancellation, ATokenCancelledBeforePollsNothingAndLosesNothing) {
  const CancellationToken token;
  token.Cancel();
  Switch<int> s;
  auto leaf = s.future();
  s.Set(7);
  auto future = WithCancellation(token, leaf);
  EXPECT_TRUE(absl::IsCancelled(PollOnce(future).value().status()));
  EXPECT_EQ(s.polls(), 0);
  EXPECT_EQ(PollOnce(leaf).value(), 7);
}

TEST(WithCancellation, OutputsOfAllKinds) {
  const CancellationToken token;
  auto nothing = WithCancellation(token, Ready());
  static_assert(std::is_same_v<FutureOutput<decltype(nothing)>, absl::Status>);
  EXPECT_TRUE(PollOnce(nothing).value().ok());
  auto status = WithCancellation(token, Ready(absl::NotFoundError("x")));
  static_assert(std::is_same_v<FutureOutput<decltype(status)>, absl::Status>);
  EXPECT_TRUE(absl::IsNotFound(PollOnce(status).value()));
  auto status_or = WithCancellation(token, Ready(absl::StatusOr<int>(3)));
  static_assert(
      std::is_same_v<FutureOutput<decltype(status_or)>, absl::StatusOr<int>>);
  EXPECT_EQ(*PollOnce(status_or).value(), 3);
  int x = 1;
  const auto refer = [&x](Context&) -> PollResult<int&> { return x; };
  auto reference = WithCancellation(token, PollFn(refer));
  static_assert(std::is_same_v<FutureOutput<decltype(reference)>,
                               absl::StatusOr<std::reference_wrapper<int>>>);
  EXPECT_EQ(&PollOnce(reference).value()->get(), &x);
  auto unique = WithCancellation(token, Ready(std::make_unique<int>(2)));
  EXPECT_EQ(**PollOnce(unique).value(), 2);
}

TEST(WithCancellation, TakesACallable) {
  const CancellationToken token;
  auto call = []() -> Co<int> { co_return 4; };
  auto future = WithCancellation(token, call);
  EXPECT_EQ(*PollOnce(future).value(), 4);
}

TEST(WithCancellation, ReportsABorrowedLambdaAndTraces) {
  const CancellationToken token;
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  auto future = WithCancellation(token, lambda());
  EXPECT_TRUE(internal::BorrowsClosure(future));
  AwaitTrace trace;
  trace.Add(future);
  EXPECT_EQ(trace.steps().size(), 2u);
}

TEST(WithCancellation, AStreamEndsWhenTheTokenIsCancelled) {
  const CancellationToken token;
  auto numbers = Iter(std::vector<int>{1, 2, 3});
  auto stream = WithCancellation(token, numbers);
  static_assert(Stream<decltype(stream)>);
  EXPECT_EQ(PollNextOnce(stream).value(), 1);
  token.Cancel();
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(stream).value(), std::nullopt);
  // The stream still has the items that were not taken.
  EXPECT_EQ(PollNextOnce(numbers).value(), 2);
}

TEST(WithCancellation, AStreamThatWaitsIsWoken) {
  const CancellationToken token;
  CountingWaker task;
  Switch<int> s;
  auto wait = [](Switch<int>& s) -> Gen<int> { co_yield co_await s.future(); };
  auto stream = WithCancellation(token, wait(s));
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  token.Cancel();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_FALSE(s.alive());
  EXPECT_EQ(task.live(), 0);
}

TEST(WithCancellation, AStreamThatEndsByItselfKeepsNoWaker) {
  const CancellationToken token;
  CountingWaker task;
  Switch<int> s;
  auto wait = [](Switch<int>& s) -> Gen<int> { co_yield co_await s.future(); };
  auto stream = WithCancellation(token, wait(s));
  EXPECT_TRUE(task.PollNext(stream).IsPending());
  s.Set(5);
  EXPECT_EQ(task.PollNext(stream).value(), 5);
  EXPECT_EQ(task.PollNext(stream).value(), std::nullopt);
  EXPECT_EQ(task.live(), 0);
}

}  // namespace
}  // namespace rouse
