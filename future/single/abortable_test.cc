// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/abortable.h"

#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

TEST(Abortable, PassesTheOutputOn) {
  auto [future, aborter] = Abortable(Ready(7));
  static_assert(Future<decltype(future)>);
  static_assert(
      std::is_same_v<FutureOutput<decltype(future)>, absl::StatusOr<int>>);
  EXPECT_EQ(PollOnce(future).value().value(), 7);
  EXPECT_FALSE(aborter.IsAborted());
  aborter.Abort();
  EXPECT_TRUE(aborter.IsAborted());
}

TEST(Abortable, AnAbortWakesTheTaskAndDestroysTheFuture) {
  Switch<int> s;
  CountingWaker task;
  auto [future, aborter] = Abortable(s.future());
  EXPECT_TRUE(task.Poll(future).IsPending());
  aborter.Abort();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(s.alive());
  const absl::StatusOr<int> result = task.Poll(future).value();
  EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
  EXPECT_EQ(result.status().message(), "the future was aborted");
  EXPECT_FALSE(s.alive());
  EXPECT_EQ(s.polls(), 1);
  EXPECT_EQ(task.live(), 0);
}

TEST(Abortable, ACompleteOrDestroyedFutureIsNotWoken) {
  Switch<int> s;
  CountingWaker task;
  std::optional<Aborter> aborter;
  {
    auto pair = Abortable(s.future());
    aborter = pair.second;
    EXPECT_TRUE(task.Poll(pair.first).IsPending());
    EXPECT_EQ(task.live(), 2);
  }
  EXPECT_EQ(task.live(), 0);
  aborter->Abort();
  EXPECT_EQ(task.wakes(), 0);

  auto [future, other] = Abortable(s.future());
  EXPECT_TRUE(task.Poll(future).IsPending());
  s.Set(1);
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.Poll(future).value().ok());
  EXPECT_EQ(task.live(), 0);
  other.Abort();
  EXPECT_EQ(task.wakes(), 1);
}

TEST(Abortable, IsNotPolledAfterAnAbort) {
  Switch<int> s;
  auto [future, aborter] = Abortable(s.future());
  s.Set(1);
  aborter.Abort();
  EXPECT_FALSE(PollOnce(future).value().ok());
  EXPECT_EQ(s.polls(), 0);
}

// Aborts in its own poll.
class AbortsItself {
 public:
  AbortsItself(std::optional<Aborter>* aborter, bool is_ready)
      : aborter_(aborter), is_ready_(is_ready) {}

  PollResult<int> Poll(Context&) {
    (*aborter_)->Abort();
    if (is_ready_) return 7;
    return kPending;
  }

 private:
  std::optional<Aborter>* aborter_;
  bool is_ready_;
};

TEST(Abortable, AnAbortDuringAPollCountsIfThePollIsPending) {
  for (const bool is_ready : {false, true}) {
    std::optional<Aborter> self;
    auto [future, aborter] = Abortable(AbortsItself(&self, is_ready));
    self = aborter;
    EXPECT_EQ(PollOnce(future).value().ok(), is_ready);
  }
}

TEST(Abortable, OutputsOfAllKinds) {
  auto nothing = Abortable(Ready()).first;
  static_assert(std::is_same_v<FutureOutput<decltype(nothing)>, absl::Status>);
  EXPECT_TRUE(PollOnce(nothing).value().ok());
  auto status = Abortable(Ready(absl::NotFoundError("x"))).first;
  static_assert(std::is_same_v<FutureOutput<decltype(status)>, absl::Status>);
  EXPECT_TRUE(absl::IsNotFound(PollOnce(status).value()));
  auto status_or = Abortable(Ready(absl::StatusOr<int>(3))).first;
  static_assert(
      std::is_same_v<FutureOutput<decltype(status_or)>, absl::StatusOr<int>>);
  EXPECT_EQ(*PollOnce(status_or).value(), 3);
  int x = 1;
  auto refer = [](int& x) -> Co<int&> { co_return x; };
  auto reference = Abortable(refer(x)).first;
  static_assert(std::is_same_v<FutureOutput<decltype(reference)>,
                               absl::StatusOr<std::reference_wrapper<int>>>);
  EXPECT_EQ(&PollOnce(reference).value()->get(), &x);
}

TEST(Abortable, PollsAnLvalueInPlace) {
  Switch<int> s;
  auto leaf = s.future();
  {
    auto [future, aborter] = Abortable(leaf);
    EXPECT_TRUE(PollOnce(future).IsPending());
    aborter.Abort();
    EXPECT_FALSE(PollOnce(future).value().ok());
  }
  EXPECT_TRUE(s.alive());
}

TEST(Abortable, AnAborterOutlivesTheFuture) {
  std::optional<Aborter> aborter;
  CountingWaker task;
  {
    auto pair = Abortable(Pending());
    EXPECT_TRUE(task.Poll(pair.first).IsPending());
    aborter = pair.second;
    EXPECT_TRUE(*aborter == pair.first.aborter());
    EXPECT_FALSE(*aborter == Abortable(Pending()).second);
  }
  aborter->Abort();
  EXPECT_TRUE(aborter->IsAborted());
}

TEST(Abortable, TakesACallable) {
  auto call = [] { return Ready(4); };
  auto future = Abortable(call).first;
  EXPECT_EQ(*PollOnce(future).value(), 4);
}

TEST(Abortable, AbortsFromAnotherThread) {
  auto pair = Abortable(Pending());
  std::thread other([aborter = pair.second] { aborter.Abort(); });
  EXPECT_TRUE(absl::IsCancelled(BlockOn(pair.first)));
  other.join();
}

TEST(Abortable, ReportsABorrowedLambda) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  EXPECT_TRUE(internal::BorrowsClosure(Abortable(lambda()).first));
}

TEST(Abortable, PollingACompleteFuturePanics) {
  auto future = Abortable(Ready()).first;
  EXPECT_TRUE(PollOnce(future).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(future)),
               "Abortable was polled after it completed");
}

}  // namespace
}  // namespace rouse
