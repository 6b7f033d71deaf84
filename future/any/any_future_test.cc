// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/any/any_future.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

// A future too large for the place of an `AnyFuture`.
template <class F>
class Large {
 public:
  explicit Large(F future) : future_(std::move(future)) {}
  auto Poll(Context& cx) { return future_.Poll(cx); }

 private:
  F future_;
  [[maybe_unused]] std::byte more_[256] = {};
};

TEST(AnyFuture, HoldsFuturesOfAnyType) {
  std::vector<AnyFuture<int>> futures;
  static_assert(Future<AnyFuture<int>>);
  static_assert(std::is_same_v<FutureOutput<AnyFuture<int>>, int>);
  auto co = [](int i) -> Co<int> { co_return i; };
  auto call = [] { return Ready(3); };
  futures.push_back(Ready(1));
  futures.push_back(co(2));
  futures.push_back(call);
  futures.push_back(Large(Ready(4)));
  std::vector<int> outputs;
  for (AnyFuture<int>& future : futures) {
    outputs.push_back(PollOnce(future).value());
  }
  EXPECT_THAT(outputs, ElementsAre(1, 2, 3, 4));
}

TEST(AnyFuture, SmallFuturesFitInline) {
  static_assert(AnyFuture<int>::FitsInline<ReadyFuture<int>>());
  static_assert(AnyFuture<int>::FitsInline<Co<int>>());
  static_assert(AnyFuture<int>::FitsInline<AnyFuture<int>>() == false);
  static_assert(!AnyFuture<int>::FitsInline<Large<Co<int>>>());
  struct alignas(32) Aligned {
    PollResult<int> Poll(Context&) { return kPending; }
  };
  static_assert(!AnyFuture<int>::FitsInline<Aligned>());
  EXPECT_EQ(sizeof(AnyFuture<int>), sizeof(AnyFuture<std::string>));
}

TEST(AnyFuture, OutputsOfAllKinds) {
  AnyFuture<> nothing = Ready();
  EXPECT_TRUE(PollOnce(nothing).IsReady());
  int x = 1;
  auto refer = [](int& x) -> Co<int&> { co_return x; };
  AnyFuture<int&> reference = refer(x);
  EXPECT_EQ(&PollOnce(reference).value(), &x);
  AnyFuture<std::unique_ptr<int>> unique = Ready(std::make_unique<int>(2));
  EXPECT_EQ(*PollOnce(unique).value(), 2);
}

TEST(AnyFuture, WaitsAndIsDestroyed) {
  Switch<int> small, large;
  CountingWaker task;
  {
    AnyFuture<int> first = small.future();
    AnyFuture<int> second = Large(large.future());
    EXPECT_TRUE(task.Poll(first).IsPending());
    EXPECT_TRUE(task.Poll(second).IsPending());
    large.Set(2);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_EQ(task.Poll(second).value(), 2);
    EXPECT_TRUE(small.alive());
  }
  EXPECT_FALSE(small.alive());
  EXPECT_FALSE(large.alive());
}

TEST(AnyFuture, CanBeMovedBeforeTheFirstPoll) {
  Switch<int> small, large;
  AnyFuture<int> first = small.future();
  AnyFuture<int> second = Large(large.future());
  AnyFuture<int> moved = std::move(first);
  moved = std::move(second);
  EXPECT_FALSE(small.alive());
  large.Set(2);
  EXPECT_EQ(PollOnce(moved).value(), 2);
  EXPECT_PANIC(static_cast<void>(PollOnce(first)),  // NOLINT: moved from
               "an AnyFuture was polled after it was moved from");
}

// A future that must stay in place once polled.
class Fixed {
 public:
  explicit Fixed(const Fixed** where) : where_(where) {}
  PollResult<int> Poll(Context&) {
    if (*where_ == this) return 7;
    *where_ = this;
    return kPending;
  }

 private:
  const Fixed** where_;
};

TEST(AnyFuture, ALargeFutureStaysInPlaceWhenMoved) {
  const Fixed* where = nullptr;
  AnyFuture<int> from = Large(Fixed(&where));
  EXPECT_TRUE(PollOnce(from).IsPending());
  AnyFuture<int> to = std::move(from);
  EXPECT_EQ(PollOnce(to).value(), 7);
}

TEST(AnyFuture, AnAlignedFutureIsAligned) {
  class alignas(64) Aligned {
   public:
    PollResult<bool> Poll(Context&) {
      return reinterpret_cast<uintptr_t>(this) % 64 == 0;
    }
  };
  AnyFuture<bool> future = Aligned();
  EXPECT_TRUE(PollOnce(future).value());
}

TEST(AnyFuture, TracesTheFuture) {
  Switch<int> s;
  auto wait = [&s]() -> Co<int> { co_return co_await s.future(); };
  AnyFuture<int> future = wait();
  EXPECT_TRUE(PollOnce(future).IsPending());
  AwaitTrace trace;
  trace.Add(future);
  EXPECT_EQ(trace.steps().size(), 2u);
}

TEST(AnyFuture, ReportsABorrowedLambda) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  const AnyFuture<int> borrows = lambda();
  EXPECT_TRUE(internal::BorrowsClosure(borrows));
  const AnyFuture<int> owns = lambda;
  EXPECT_FALSE(internal::BorrowsClosure(owns));
}

#ifdef ABSL_HAVE_EXCEPTIONS

// A future whose move panics once the future was polled.
class Unmovable {
 public:
  explicit Unmovable(Switch<int>& s) : leaf_(s.future()) {}
  Unmovable(Unmovable&& other) : leaf_(Movable(other)) {}
  PollResult<int> Poll(Context& cx) {
    polled_ = true;
    return leaf_.Poll(cx);
  }

 private:
  static Switch<int>::Leaf&& Movable(Unmovable& other) {
    if (other.polled_) throw std::runtime_error("moved");
    return std::move(other.leaf_);
  }

  Switch<int>::Leaf leaf_;
  bool polled_ = false;
};

TEST(AnyFuture, AMoveThatThrowsChangesNothing) {
  Switch<int> s;
  AnyFuture<int> from = Unmovable(s);
  EXPECT_TRUE(PollOnce(from).IsPending());
  EXPECT_THROW(AnyFuture<int> to(std::move(from)), std::runtime_error);
  s.Set(3);
  EXPECT_EQ(PollOnce(from).value(), 3);  // NOLINT: it was not moved
}

#endif  // ABSL_HAVE_EXCEPTIONS

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

// Aligned, so that the block comes from `operator new`.
class alignas(32) NeedsBlock {
 public:
  explicit NeedsBlock(Switch<int>& s) : leaf_(s.future()) {}
  PollResult<int> Poll(Context& cx) { return leaf_.Poll(cx); }

 private:
  Switch<int>::Leaf leaf_;
};

TEST(AnyFuture, LeavesTheFutureIfTheAllocationFails) {
  Switch<int> s;
  const int failed = FailEachAllocation(
      [&s] {
        NeedsBlock future(s);
        return AnyFuture<int>(std::move(future));
      },
      [&s](std::optional<AnyFuture<int>> future) {
        EXPECT_EQ(s.alive(), future.has_value());
      });
  EXPECT_LE(failed, 1);
}

#endif  // ROUSE_CAN_FAIL_ALLOCATIONS

}  // namespace
}  // namespace rouse
