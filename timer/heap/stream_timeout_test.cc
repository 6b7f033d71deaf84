// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/stream_timeout.h"

#include <concepts>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

// Gives the items of the queue; an empty optional ends the stream.
template <class T>
class Source {
 public:
  using Queue = std::deque<std::optional<T>>;

  explicit Source(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

  PollResult<std::optional<T>> PollNext(Context&) {
    if (queue_->empty()) return kPending;
    PollResult<std::optional<T>> item = std::move(queue_->front());
    if (item->has_value()) queue_->pop_front();
    return item;
  }

 private:
  std::shared_ptr<Queue> queue_;
};

template <class T>
using ItemFor = StreamTimeout<Source<T>>::Item;

static_assert(Stream<StreamTimeout<Source<int>>>);
static_assert(std::same_as<ItemFor<int>, absl::StatusOr<int>>);
static_assert(std::same_as<ItemFor<absl::Status>, absl::Status>);
static_assert(std::same_as<ItemFor<absl::StatusOr<int>>, absl::StatusOr<int>>);
static_assert(std::is_move_constructible_v<StreamTimeout<Source<int>>>);

class HeapStreamTimeoutTest : public testing::Test {
 protected:
  HeapStreamTimeoutTest() : clock_(PausedClock()) { timer_.emplace(clock_); }

  Source<int> source() const { return Source<int>(queue_); }

  auto Timed(AfterTimeout after = AfterTimeout::kWait) {
    return StreamTimeout(timer_->handle(), absl::Milliseconds(10), source(),
                         after);
  }

  template <class S>
  auto Poll(S& stream) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return stream.PollNext(cx);
  }

  template <class S>
  bool IsPending(S& stream) {
    return Poll(stream).IsPending();
  }
  template <class S>
  bool HasEnded(S& stream) {
    const auto item = Poll(stream);
    return item.IsReady() && !item->has_value();
  }
  // Returns the error of the next item, or OK if the item is a value or there
  // is no item.
  template <class S>
  absl::StatusCode ErrorOf(S& stream) {
    const auto item = Poll(stream);
    if (item.IsPending() || !item->has_value()) return absl::StatusCode::kOk;
    return (*item)->status().code();
  }
  template <class S>
  bool IsTimedOut(S& stream) {
    return ErrorOf(stream) == absl::StatusCode::kDeadlineExceeded;
  }

  void Advance(int milliseconds) {
    clock_->Advance(absl::Milliseconds(milliseconds));
    timer_->Advance();
  }

  CountingWaker task_;
  std::shared_ptr<Source<int>::Queue> queue_ =
      std::make_shared<Source<int>::Queue>();
  std::shared_ptr<Clock> clock_;
  std::optional<Timer> timer_;
};

TEST_F(HeapStreamTimeoutTest, ReturnsTheItemsAndTheEnd) {
  StreamTimeout timed = Timed();
  *queue_ = {1, 2, std::nullopt};
  EXPECT_EQ(***Poll(timed), 1);
  EXPECT_EQ(***Poll(timed), 2);
  EXPECT_TRUE(HasEnded(timed));
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, ReportsATimeoutAndContinues) {
  StreamTimeout timed = Timed();
  EXPECT_TRUE(IsPending(timed));
  Advance(9);
  EXPECT_TRUE(IsPending(timed));
  EXPECT_EQ(task_.wakes(), 0);
  Advance(1);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(IsTimedOut(timed));
  queue_->emplace_back(1);
  EXPECT_EQ(***Poll(timed), 1);
}

TEST_F(HeapStreamTimeoutTest, ReportsOneTimeoutForEachItem) {
  StreamTimeout timed = Timed();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(IsPending(timed));
    Advance(10);
    EXPECT_TRUE(IsTimedOut(timed));
    EXPECT_TRUE(IsPending(timed));
    Advance(1000);
    EXPECT_TRUE(IsPending(timed));
    queue_->emplace_back(i);
    EXPECT_EQ(***Poll(timed), i);
  }
}

TEST_F(HeapStreamTimeoutTest, RepeatReportsEachPeriod) {
  StreamTimeout timed = Timed(AfterTimeout::kRepeat);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(IsPending(timed));
    // However late the stream is polled, one error comes.
    Advance(100);
    EXPECT_TRUE(IsTimedOut(timed));
    EXPECT_TRUE(IsPending(timed));
    Advance(9);
    EXPECT_TRUE(IsPending(timed));
    Advance(1);
    EXPECT_TRUE(IsTimedOut(timed));
  }
  queue_->emplace_back(1);
  EXPECT_EQ(***Poll(timed), 1);
}

TEST_F(HeapStreamTimeoutTest, ReturnsAReadyItemHoweverLate) {
  StreamTimeout timed = Timed();
  EXPECT_TRUE(IsPending(timed));
  Advance(100);
  queue_->emplace_back(1);
  EXPECT_EQ(***Poll(timed), 1);
  // The time that was up belonged to that item.
  EXPECT_TRUE(IsPending(timed));
}

TEST_F(HeapStreamTimeoutTest, EachItemHasTheWholeDuration) {
  StreamTimeout timed = Timed();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(IsPending(timed));
    Advance(9);
    queue_->emplace_back(i);
    EXPECT_EQ(***Poll(timed), i);
  }
}

// The stream's time does not include what a caller does with an item.
TEST_F(HeapStreamTimeoutTest, TheDurationStartsWhenAnItemIsAwaited) {
  StreamTimeout timed = Timed();
  for (int i = 0; i < 3; ++i) {
    Advance(100);
    EXPECT_TRUE(IsPending(timed));
    EXPECT_EQ(timer_->NextEvent(), clock_->Now() + absl::Milliseconds(10));
    queue_->emplace_back(i);
    EXPECT_EQ(***Poll(timed), i);
  }
}

TEST_F(HeapStreamTimeoutTest, PollsDoNotPostponeTheDeadline) {
  StreamTimeout timed = Timed();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(IsPending(timed));
    Advance(1);
  }
  EXPECT_TRUE(IsTimedOut(timed));
}

// Defect 6 of the seed: the end of the stream resets the timer, too, and the
// ended stream keeps the timer busy.
TEST_F(HeapStreamTimeoutTest, Defect6TheEndOfTheStreamEndsTheDelay) {
  StreamTimeout timed = Timed();
  EXPECT_TRUE(IsPending(timed));
  EXPECT_TRUE(timer_->NextEvent().has_value());
  Advance(5);
  queue_->emplace_back(std::nullopt);
  EXPECT_TRUE(HasEnded(timed));
  EXPECT_EQ(timer_->NextEvent(), std::nullopt);
  EXPECT_EQ(task_.live(), 0);
  Advance(100);
  EXPECT_EQ(task_.wakes(), 0);
}

// Defect 6 of the seed: the timer runs from the beginning, and an item resets
// the timer even if the next item is ready.
TEST_F(HeapStreamTimeoutTest, Defect6ReadyItemsNeedNoTimer) {
  StreamTimeout timed = Timed();
  EXPECT_EQ(timer_->NextEvent(), std::nullopt);
  *queue_ = {1, 2, 3, std::nullopt};
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(***Poll(timed), i);
    EXPECT_EQ(timer_->NextEvent(), std::nullopt);
  }
  EXPECT_TRUE(HasEnded(timed));
  EXPECT_EQ(timer_->NextEvent(), std::nullopt);
}

TEST_F(HeapStreamTimeoutTest, ReadyItemsAreReturnedWithoutATimer) {
  StreamTimeout timed = Timed();
  timer_.reset();
  *queue_ = {1, std::nullopt};
  EXPECT_EQ(***Poll(timed), 1);
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, EndsWhenTheTimerIsDestroyed) {
  StreamTimeout timed = Timed(AfterTimeout::kRepeat);
  EXPECT_TRUE(IsPending(timed));
  timer_.reset();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(queue_.use_count(), 2);
  EXPECT_EQ(ErrorOf(timed), absl::StatusCode::kUnavailable);
  EXPECT_EQ(queue_.use_count(), 1);
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, EndsWhenTheTimerIsDestroyedBetweenTwoItems) {
  StreamTimeout timed = Timed();
  EXPECT_TRUE(IsPending(timed));
  timer_.reset();
  queue_->emplace_back(1);
  EXPECT_EQ(***Poll(timed), 1);
  EXPECT_EQ(ErrorOf(timed), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, CanBeMovedAtAnyTime) {
  StreamTimeout from = Timed();
  EXPECT_TRUE(IsPending(from));
  StreamTimeout to = std::move(from);
  Advance(10);
  EXPECT_TRUE(IsTimedOut(to));
}

TEST_F(HeapStreamTimeoutTest, DoesNotDestroyAReferencedStream) {
  Source<int> kept = source();
  {
    StreamTimeout timed(timer_->handle(), absl::Milliseconds(10), kept);
    EXPECT_TRUE(IsPending(timed));
    timer_.reset();
    EXPECT_EQ(ErrorOf(timed), absl::StatusCode::kUnavailable);
  }
  queue_->emplace_back(1);
  EXPECT_EQ(**Poll(kept), 1);
}

TEST_F(HeapStreamTimeoutTest, TimeoutAtReturnsItemsBeforeItsInstant) {
  auto timed = StreamTimeoutAt(
      timer_->handle(), clock_->Now() + absl::Milliseconds(10), source());
  queue_->emplace_back(1);
  EXPECT_EQ(***Poll(timed), 1);
  Advance(9);
  queue_->emplace_back(2);
  EXPECT_EQ(***Poll(timed), 2);
  EXPECT_TRUE(IsPending(timed));
  Advance(1);
  EXPECT_EQ(task_.wakes(), 1);
  // Even if there is an item.
  queue_->emplace_back(3);
  EXPECT_TRUE(IsTimedOut(timed));
  EXPECT_EQ(queue_.use_count(), 1);
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, TimeoutAtEndsWithItsStream) {
  auto timed = StreamTimeoutAt(
      timer_->handle(), clock_->Now() + absl::Milliseconds(10), source());
  *queue_ = {1, std::nullopt};
  EXPECT_EQ(***Poll(timed), 1);
  EXPECT_TRUE(timer_->NextEvent().has_value());
  EXPECT_TRUE(HasEnded(timed));
  EXPECT_EQ(timer_->NextEvent(), std::nullopt);
  Advance(10);
  EXPECT_TRUE(HasEnded(timed));
}

TEST_F(HeapStreamTimeoutTest, AnErrorOfTheStreamIsAnItem) {
  auto queue = std::make_shared<Source<absl::StatusOr<int>>::Queue>();
  queue->emplace_back(absl::DataLossError("x"));
  queue->emplace_back(1);
  StreamTimeout timed(timer_->handle(), absl::Milliseconds(10),
                      Source<absl::StatusOr<int>>(queue));
  EXPECT_EQ(ErrorOf(timed), absl::StatusCode::kDataLoss);
  EXPECT_EQ(***Poll(timed), 1);
}

TEST_F(HeapStreamTimeoutTest, TakesMoveOnlyItems) {
  auto queue = std::make_shared<Source<std::unique_ptr<int>>::Queue>();
  queue->emplace_back(std::make_unique<int>(1));
  StreamTimeout timed(timer_->handle(), absl::Milliseconds(10),
                      Source<std::unique_ptr<int>>(queue));
  EXPECT_EQ(****Poll(timed), 1);
}

TEST_F(HeapStreamTimeoutTest, UsesTheDefaultTimer) {
  ASSERT_TRUE(timer_->handle().SetAsGlobalFallback().ok());
  StreamTimeout timed(absl::Milliseconds(10), source());
  auto at = StreamTimeoutAt(clock_->Now() + absl::Milliseconds(10), source());
  EXPECT_TRUE(IsPending(timed));
  EXPECT_TRUE(IsPending(at));
  Advance(10);
  EXPECT_TRUE(IsTimedOut(timed));
  EXPECT_TRUE(IsTimedOut(at));
}

}  // namespace
}  // namespace rouse::heap
