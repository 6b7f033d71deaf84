// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/cancellation/cancellation_token.h"

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "absl/hash/hash_testing.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

static_assert(Future<CancellationToken::CancelledFuture>);
static_assert(Future<CancellationToken::OwnedCancelledFuture>);

// Enough for two batches and a half.
constexpr int kMany = 80;

TEST(CancellationToken, IsCancelledOnce) {
  const CancellationToken token;
  EXPECT_FALSE(token.IsCancelled());
  token.Cancel();
  EXPECT_TRUE(token.IsCancelled());
  token.Cancel();
  EXPECT_TRUE(token.IsCancelled());
}

TEST(CancellationToken, CopiesShareOneToken) {
  const CancellationToken token;
  const std::vector<CancellationToken> copies(2, token);
  CancellationToken assigned;
  assigned = token;
  copies[0].Cancel();
  EXPECT_TRUE(copies[1].IsCancelled());
  EXPECT_TRUE(token.IsCancelled());
  EXPECT_TRUE(assigned.IsCancelled());
}

TEST(CancellationToken, CopiesAreEqual) {
  CancellationToken token;
  const CancellationToken copy = token;
  const CancellationToken child = token.ChildToken();
  EXPECT_EQ(token, copy);
  EXPECT_NE(token, child);
  EXPECT_NE(token, CancellationToken());
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      std::vector<CancellationToken>{token, copy, child, CancellationToken()}));
  copy.Cancel();
  EXPECT_EQ(token, copy) << "cancelling changes nothing";
  const CancellationToken moved = std::move(token);
  EXPECT_EQ(moved, copy);
  EXPECT_NE(token, copy);  // NOLINT(bugprone-use-after-move): allowed
}

TEST(CancellationToken, WakesAllWaiters) {
  const CancellationToken token;
  CountingWaker task;
  std::vector<std::unique_ptr<CancellationToken::CancelledFuture>> futures;
  for (int i = 0; i < kMany; ++i) {
    futures.push_back(std::make_unique<CancellationToken::CancelledFuture>(
        token.Cancelled()));
    EXPECT_TRUE(PollOnce(*futures.back(), task.NewWaker()).IsPending());
  }
  token.Cancel();
  EXPECT_EQ(task.wakes(), kMany);
  for (auto& future : futures) EXPECT_TRUE(PollOnce(*future).IsReady());
}

TEST(CancellationToken, AWaitForACancelledTokenIsReadyAtOnce) {
  const CancellationToken token;
  token.Cancel();
  auto cancelled = token.Cancelled();
  EXPECT_TRUE(PollOnce(cancelled).IsReady());
  EXPECT_TRUE(PollOnce(token.CancelledOwned()).IsReady());
}

TEST(CancellationToken, CancelsItsChildrenAndGrandchildren) {
  const CancellationToken token;
  const CancellationToken child = token.ChildToken();
  const CancellationToken grandchild = child.ChildToken();
  CountingWaker task;
  auto cancelled = grandchild.Cancelled();
  EXPECT_TRUE(PollOnce(cancelled, task.NewWaker()).IsPending());
  token.Cancel();
  EXPECT_TRUE(child.IsCancelled());
  EXPECT_TRUE(grandchild.IsCancelled());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(cancelled).IsReady());
}

TEST(CancellationToken, CancelsNeitherItsParentNorItsSiblings) {
  const CancellationToken token;
  const CancellationToken child = token.ChildToken();
  const CancellationToken sibling = token.ChildToken();
  child.Cancel();
  EXPECT_FALSE(token.IsCancelled());
  EXPECT_FALSE(sibling.IsCancelled());
  token.Cancel();
  EXPECT_TRUE(sibling.IsCancelled());
}

TEST(CancellationToken, AChildOfACancelledTokenIsCancelled) {
  const CancellationToken token;
  token.Cancel();
  const CancellationToken child = token.ChildToken();
  EXPECT_TRUE(child.IsCancelled());
  EXPECT_TRUE(child.ChildToken().IsCancelled());
}

TEST(CancellationToken, ADestroyedTokenCancelsNothing) {
  std::optional<CancellationToken> token(std::in_place);
  const CancellationToken child = token->ChildToken();
  token.reset();
  EXPECT_FALSE(child.IsCancelled());
  child.Cancel();
  EXPECT_TRUE(child.IsCancelled());
}

// Trap C13: tokio #4497.
TEST(CancellationToken, ADestroyedTokenLeavesItsChildrenToItsParent) {
  const CancellationToken token;
  std::optional<CancellationToken> child(token.ChildToken());
  const CancellationToken first = child->ChildToken();
  const CancellationToken second = child->ChildToken();
  child.reset();
  first.Cancel();
  EXPECT_FALSE(second.IsCancelled());
  token.Cancel();
  EXPECT_TRUE(second.IsCancelled());
}

// Trap C13: tokio #4497. There is no recursion, and no chain of tokens remains.
TEST(CancellationToken, ALongChainOfTokensIsCancelled) {
  constexpr int kLength = 200'000;
  const CancellationToken root;
  std::vector<CancellationToken> line = {root};
  for (int i = 0; i < kLength; ++i) line.push_back(line.back().ChildToken());
  const CancellationToken last = line.back();
  root.Cancel();
  EXPECT_TRUE(last.IsCancelled());
}

TEST(CancellationToken, ALongChainOfDestroyedTokensIsCancelled) {
  constexpr int kLength = 200'000;
  const CancellationToken root;
  CancellationToken last = root;
  for (int i = 0; i < kLength; ++i) last = last.ChildToken();
  EXPECT_FALSE(last.IsCancelled());
  root.Cancel();
  EXPECT_TRUE(last.IsCancelled());
}

// Returns the allocator's bytes in use, or 0 under sanitizers, which have their
// own allocators.
size_t BytesInUse() { return mallinfo2().uordblks; }

TEST(CancellationToken, DestroyedTokensLeaveNoMemoryBehind) {
  constexpr int kTokens = 1'000'000;
  const CancellationToken root;
  const size_t before = BytesInUse();
  CancellationToken last = root;
  for (int i = 0; i < kTokens; ++i) {
    // One token is destroyed at once, and one leaves a child behind.
    const CancellationToken child = root.ChildToken();
    last = last.ChildToken();
  }
  EXPECT_LT(BytesInUse(), before + 10'000);
  EXPECT_FALSE(last.IsCancelled());
}

TEST(CancellationToken, ACancelledWaitIsNotWoken) {
  const CancellationToken token;
  CountingWaker task;
  {
    auto cancelled = token.Cancelled();
    EXPECT_TRUE(PollOnce(cancelled, task.NewWaker()).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  token.Cancel();
  EXPECT_EQ(task.wakes(), 0);
}

TEST(CancellationToken, TheWakerOfTheLastPollIsWoken) {
  const CancellationToken token;
  CountingWaker before, after;
  {
    auto cancelled = token.Cancelled();
    EXPECT_TRUE(PollOnce(cancelled, before.NewWaker()).IsPending());
    EXPECT_TRUE(PollOnce(cancelled, after.NewWaker()).IsPending());
    token.Cancel();
  }
  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(after.wakes(), 1);
}

// Wakers are called under no lock, so they may do anything.
TEST(CancellationToken, WakersCanUseTheToken) {
  CancellationToken token;
  CancellationToken child = token.ChildToken();
  CountingWaker task;
  task.OnWake([&] {
    EXPECT_TRUE(token.IsCancelled());
    EXPECT_TRUE(child.ChildToken().IsCancelled());
    token.Cancel();
    child.Cancel();
  });
  auto first = token.Cancelled();
  auto second = child.Cancelled();
  EXPECT_TRUE(PollOnce(first, task.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, task.NewWaker()).IsPending());
  token.Cancel();
  EXPECT_EQ(task.wakes(), 2);
}

TEST(CancellationToken, AnOwnedFutureKeepsTheToken) {
  std::optional<CancellationToken> token(std::in_place);
  std::optional<CancellationToken> child(token->ChildToken());
  auto cancelled = child->CancelledOwned();
  child.reset();
  EXPECT_TRUE(PollOnce(cancelled).IsPending());
  token->Cancel();
  token.reset();
  EXPECT_TRUE(PollOnce(cancelled).IsReady());
}

TEST(CancellationToken, AFutureCanBeMovedBeforeItIsPolled) {
  const CancellationToken token;
  auto one = token.Cancelled();
  auto two = std::move(one);
  EXPECT_TRUE(PollOnce(two).IsPending());
  token.Cancel();
  EXPECT_TRUE(PollOnce(two).IsReady());
}

TEST(CancellationToken, ATaskThatOnlyChecksYields) {
  const CancellationToken token;
  token.Cancel();
  const Waker waker;
  Context cx(waker);
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    auto cancelled = token.Cancelled();
    EXPECT_TRUE(cancelled.Poll(cx).IsReady());
  }
  auto cancelled = token.Cancelled();
  EXPECT_TRUE(cancelled.Poll(cx).IsPending());
}

TEST(CancellationToken, ADestroyedGuardCancels) {
  const CancellationToken token;
  {
    CancellationDropGuard guard = token.DropGuard();
    const CancellationDropGuard moved = std::move(guard);
    EXPECT_FALSE(token.IsCancelled());
  }
  EXPECT_TRUE(token.IsCancelled());
}

TEST(CancellationToken, ADisarmedGuardCancelsNothing) {
  const CancellationToken token;
  {
    CancellationDropGuard guard = token.DropGuard();
    const CancellationToken back = std::move(guard).Disarm();
    EXPECT_FALSE(back.IsCancelled());
  }
  EXPECT_FALSE(token.IsCancelled());
}

TEST(CancellationToken, AReplacedGuardCancels) {
  const CancellationToken first, second;
  CancellationDropGuard guard = first.DropGuard();
  guard = second.DropGuard();
  EXPECT_TRUE(first.IsCancelled());
  EXPECT_FALSE(second.IsCancelled());
}

TEST(CancellationToken, RunsAFutureToCompletion) {
  const CancellationToken token;
  auto run = token.RunUntilCancelled(Ready(7));
  EXPECT_EQ(BlockOn(run), std::optional<int>(7));
}

TEST(CancellationToken, RunsAFutureUntilTheTokenIsCancelled) {
  const CancellationToken token;
  CountingWaker task;
  auto witness = std::make_shared<int>(0);
  const auto never = [witness](Context&) -> PollResult<int> {
    return kPending;
  };
  {
    auto run = token.RunUntilCancelled(PollFn(never));
    EXPECT_TRUE(PollOnce(run, task.NewWaker()).IsPending());
    const long users = witness.use_count();
    token.Cancel();
    EXPECT_EQ(task.wakes(), 1);
    PollResult<std::optional<int>> result = PollOnce(run);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(*result, std::nullopt);
    EXPECT_LT(witness.use_count(), users) << "the future has been destroyed";
  }
}

TEST(CancellationToken, ACompleteRunKeepsNoWaker) {
  const CancellationToken token;
  const CancellationToken other;
  CountingWaker task;
  auto run = token.RunUntilCancelled(other.Cancelled());
  EXPECT_TRUE(PollOnce(run, task.NewWaker()).IsPending());
  EXPECT_EQ(task.live(), 2);
  other.Cancel();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(PollOnce(run, task.NewWaker()).value().has_value());
  EXPECT_EQ(task.live(), 0);
  token.Cancel();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(CancellationToken, RunUntilCancelledReportsABorrowedLambda) {
  const CancellationToken token;
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  EXPECT_TRUE(internal::BorrowsClosure(token.RunUntilCancelled(lambda())));
  EXPECT_FALSE(internal::BorrowsClosure(token.RunUntilCancelled(Ready(1))));
}

// As in tokio-util: a ready future has taken something that would be lost.
TEST(CancellationToken, AReadyFutureWinsOnceItHasBegun) {
  const CancellationToken token;
  CountingWaker task;
  bool ready = false;
  const auto poll = [&ready](Context&) -> PollResult<int> {
    if (!ready) return kPending;
    return 7;
  };
  auto run = token.RunUntilCancelled(PollFn(poll));
  EXPECT_TRUE(PollOnce(run, task.NewWaker()).IsPending());
  ready = true;
  token.Cancel();
  EXPECT_EQ(PollOnce(run, task.NewWaker()).value(), std::optional<int>(7));
  EXPECT_EQ(task.live(), 0);
}

// A token cancelled before leaves a ready lvalue with its value.
TEST(CancellationToken, ACancelledTokenLosesNoValueOfAnLvalue) {
  const CancellationToken token;
  token.Cancel();
  auto ready = Ready(7);
  auto run = token.RunUntilCancelled(ready);
  EXPECT_EQ(BlockOn(run), std::nullopt);
  EXPECT_EQ(BlockOn(ready), 7);
}

// A loop of futures that are always ready must see the cancellation.
TEST(CancellationToken, ALoopOfReadyFuturesEnds) {
  const CancellationToken token;
  int rounds = 0;
  while (BlockOn(token.RunUntilCancelled(Ready())).has_value()) {
    if (++rounds == 3) token.Cancel();
  }
  EXPECT_EQ(rounds, 3);
}

// A future that uses up the budget of each poll does not hide the token.
TEST(CancellationToken, CancellationIsSeenWithoutBudget) {
  const CancellationToken token;
  CountingWaker task;
  const auto greedy = [](Context& cx) -> PollResult<int> {
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    return kPending;
  };
  auto run = token.RunUntilCancelled(PollFn(greedy));
  EXPECT_TRUE(PollOnce(run, task.NewWaker()).IsPending());
  token.Cancel();
  EXPECT_EQ(PollOnce(run, task.NewWaker()).value(), std::nullopt);
}

// Trap C13: tokio #7462.
TEST(CancellationToken, PollsNothingOnceCancelled) {
  const CancellationToken token;
  token.Cancel();
  bool polled = false;
  const auto poll = [&polled](Context&) -> PollResult<int> {
    polled = true;
    return 1;
  };
  auto run = token.RunUntilCancelled(PollFn(poll));
  EXPECT_EQ(BlockOn(run), std::nullopt);
  EXPECT_FALSE(polled);
}

// The future is not polled even when, for want of budget, the cancellation
// cannot be seen.
TEST(CancellationToken, PollsNothingWithoutBudget) {
  const CancellationToken token;
  token.Cancel();
  bool polled = false;
  const auto poll = [&polled](Context&) -> PollResult<int> {
    polled = true;
    return 1;
  };
  auto run = token.RunUntilCancelled(PollFn(poll));
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    Context cx(waker);
    while (cx.HasBudget()) PollProceed(cx)->MadeProgress();
    EXPECT_TRUE(run.Poll(cx).IsPending());
    EXPECT_EQ(task.wakes(), 1);
  }
  EXPECT_FALSE(polled);
  EXPECT_EQ(BlockOn(run), std::nullopt);
  EXPECT_FALSE(polled);
}

TEST(CancellationToken, RunsFuturesOfEveryKind) {
  const CancellationToken token;
  auto nothing = token.RunUntilCancelled(Ready());
  static_assert(std::is_same_v<FutureOutput<decltype(nothing)>,
                               std::optional<std::monostate>>);
  EXPECT_TRUE(BlockOn(nothing).has_value());

  int value = 1;
  const auto refer = [&value](Context&) -> PollResult<int&> { return value; };
  auto reference = token.RunUntilCancelled(PollFn(refer));
  static_assert(std::is_same_v<FutureOutput<decltype(reference)>,
                               std::optional<std::reference_wrapper<int>>>);
  EXPECT_EQ(&BlockOn(reference)->get(), &value);

  auto unique = token.RunUntilCancelled(Ready(std::make_unique<int>(2)));
  EXPECT_EQ(**BlockOn(unique), 2);
}

TEST(CancellationToken, RunsAnLvalueInPlace) {
  const CancellationToken token;
  const CancellationToken other;
  auto cancelled = other.Cancelled();
  {
    auto run = token.RunUntilCancelled(cancelled);
    EXPECT_TRUE(PollOnce(run).IsPending());
    token.Cancel();
    EXPECT_FALSE(BlockOn(run).has_value());
  }
  other.Cancel();
  EXPECT_TRUE(PollOnce(cancelled).IsReady());
}

TEST(CancellationToken, ATraceShowsTheFutureThatRuns) {
  const CancellationToken token, other;
  auto run = token.RunUntilCancelled(other.CancelledOwned());
  EXPECT_TRUE(PollOnce(run).IsPending());
  AwaitTrace trace;
  trace.Add(run);
  ASSERT_EQ(trace.steps().size(), 2u);
  EXPECT_EQ(trace.steps()[0].name, "RunUntilCancelled");
}

TEST(CancellationToken, EndsALoopOnAnotherThread) {
  const CancellationToken token;
  std::thread other([child = token.ChildToken()] {
    const auto serve = [](CancellationToken stop) -> Co<int> {
      auto cancelled = stop.Cancelled();
      co_await cancelled;
      co_return 1;
    };
    EXPECT_EQ(BlockOn(serve(child)), 1);
  });
  token.Cancel();
  other.join();
}

TEST(CancellationToken, PollingACompleteFuturePanics) {
  const CancellationToken token;
  token.Cancel();
  auto cancelled = token.Cancelled();
  EXPECT_TRUE(PollOnce(cancelled).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(cancelled)),
               "CancellationToken::Cancelled was polled after");
  auto run = token.RunUntilCancelled(Ready(1));
  EXPECT_TRUE(PollOnce(run).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(run)),
               "CancellationToken::RunUntilCancelled was polled after");
}

TEST(CancellationToken, UsingATokenThatWasMovedFromPanics) {
  constexpr char kText[] =
      "CancellationToken was used after it was moved from; use the object";
  CancellationToken token;
  CancellationToken moved = std::move(token);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_PANIC(token.Cancel(), kText);
  EXPECT_PANIC(static_cast<void>(token.IsCancelled()), kText);
  EXPECT_PANIC(static_cast<void>(token.ChildToken()), kText);
  EXPECT_PANIC(static_cast<void>(token.Cancelled()), kText);
  EXPECT_PANIC(static_cast<void>(token.CancelledOwned()), kText);
  EXPECT_PANIC(static_cast<void>(token.DropGuard()), kText);
  EXPECT_PANIC(static_cast<void>(token.RunUntilCancelled(Ready(1))), kText);
  token = std::move(moved);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_FALSE(token.IsCancelled());
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(CancellationToken, MovingAPolledFuturePanics) {
  const CancellationToken token;
  auto one = token.Cancelled();
  EXPECT_TRUE(PollOnce(one).IsPending());
  EXPECT_PANIC(CancellationToken::CancelledFuture two(std::move(one)),
               "CancellationToken::Cancelled was moved after");
  token.Cancel();
  EXPECT_TRUE(PollOnce(one).IsReady());
}

// A future that can no longer be moved still has its token.
TEST(CancellationToken, APolledOwnedFutureKeepsTheToken) {
  std::optional<CancellationToken> token(std::in_place);
  std::optional abandoned(token->CancelledOwned());
  auto waiting = token->CancelledOwned();
  auto run = token->RunUntilCancelled(
      PollFn([](Context&) -> PollResult<void> { return kPending; }));
  const CancellationToken child = token->ChildToken();
  token.reset();
  EXPECT_TRUE(PollOnce(*abandoned).IsPending());
  EXPECT_PANIC(auto moved = *std::move(abandoned),
               "CancellationToken::Cancelled was moved after");
  EXPECT_TRUE(PollOnce(waiting).IsPending());
  EXPECT_PANIC(auto moved = std::move(waiting),
               "CancellationToken::Cancelled was moved after");
  EXPECT_TRUE(PollOnce(run).IsPending());
  EXPECT_PANIC(auto moved = std::move(run),
               "CancellationToken::Cancelled was moved after");
  // NOLINTBEGIN(bugprone-use-after-move): they were not
  abandoned.reset();
  EXPECT_TRUE(PollOnce(waiting).IsPending());
  EXPECT_TRUE(PollOnce(run).IsPending());
  // NOLINTEND(bugprone-use-after-move)
}

TEST(CancellationToken, AThrowingWakerDoesNotStopTheOthers) {
  const CancellationToken token;
  const CancellationToken child = token.ChildToken();
  CountingWaker bad, good;
  bad.OnWake([] { throw 1; });
  auto first = token.Cancelled();
  auto second = child.Cancelled();
  EXPECT_TRUE(PollOnce(first, bad.NewWaker()).IsPending());
  EXPECT_TRUE(PollOnce(second, good.NewWaker()).IsPending());
  EXPECT_THROW(token.Cancel(), int);
  EXPECT_EQ(good.wakes(), 1);
  EXPECT_TRUE(PollOnce(first).IsReady());
  EXPECT_TRUE(PollOnce(second).IsReady());
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
