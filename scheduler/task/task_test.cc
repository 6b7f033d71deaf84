#include "rouse/scheduler/task/task.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task_id.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// Queues tasks until the test runs them.
class ManualSchedule final : public Schedule {
 public:
  void Submit(Header* task) override { queue_.push_back(task); }
  void Resubmit(Header* task) override { queue_.push_back(task); }
  bool Release(Header* task) override {
    const bool listed = std::exchange(listed_, nullptr) == task;
    return listed;
  }

  void Threw(Header* task) override {
    ++threw_;
    EXPECT_FALSE(task->state.IsComplete());
  }

  // One task at a time.
  template <class F>
  auto Start(F f) {
    using Future = typename SpawnedFuture<F>::type;
    auto* task = new Cell<Future>(this, ++last_id_, std::move(f));
    listed_ = task;
    queue_.push_back(task);
    return JoinHandle<FutureOutput<Future>>(task);
  }

  bool RunNext() {
    if (queue_.empty()) return false;
    Header* task = queue_.front();
    queue_.pop_front();
    task::Run(task, &rand_);
    return true;
  }
  void RunAll() {
    while (RunNext()) {
    }
  }
  size_t queued() const { return queue_.size(); }
  Header* listed() const { return listed_; }
  int threw() const { return threw_; }

  void ShutdownListed() {
    Header* task = std::exchange(listed_, nullptr);
    task::Shutdown(task);
    task::Unref(task);
  }

 private:
  std::deque<Header*> queue_;
  Header* listed_ = nullptr;
  int threw_ = 0;
  TaskId last_id_ = 0;
  FastRand rand_{1};
};

class TaskTest : public ::testing::Test {
 protected:
  ~TaskTest() override {
    // Every task has let go of its scheduler.
    schedule_->Unref();
    EXPECT_EQ(alive_, 0);
  }

  // Counts its live copies, so that leaks and double frees show.
  class Tracked {
   public:
    explicit Tracked(int* alive) : alive_(alive) { ++*alive_; }
    Tracked(Tracked&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    Tracked& operator=(Tracked&&) = delete;
    ~Tracked() { --*alive_; }

   private:
    int* alive_;
  };

  // Pending until it is opened; hands out its waker.
  class Gate {
   public:
    explicit Gate(TaskTest* test) : test_(test), tracked_(&test->alive_) {}
    PollResult<int> Poll(Context& cx) {
      ++test_->polls_;
      if (test_->open_) return 7;
      test_->waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    TaskTest* test_;
    Tracked tracked_;
  };

  // Counts the callables of its kind that are alive, and its wakes.
  static Waker CountedWaker(int* alive, int* woken = nullptr) {
    return Waker::FromCallable(
        [tracked = std::make_shared<Tracked>(alive), woken] {
          if (woken != nullptr) ++*woken;
        });
  }

  template <class T>
  static PollResult<JoinResult<T>> PollOnce(JoinHandle<T>& handle) {
    const Waker waker;
    Context cx(waker);
    return handle.Poll(cx);
  }

  ManualSchedule* schedule_ = new ManualSchedule;
  int alive_ = 0;
  int polls_ = 0;
  bool open_ = false;
  Waker waker_;
};

TEST_F(TaskTest, RunsAndIsJoined) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  EXPECT_TRUE(PollOnce(handle).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(polls_, 1);
  EXPECT_FALSE(handle.IsFinished());
  open_ = true;
  std::move(waker_).Wake();
  schedule_->RunAll();
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

TEST_F(TaskTest, CompletionWakesTheJoiner) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  int woken = 0;
  const Waker waker = Waker::FromCallable([&woken] { ++woken; });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(woken, 1);
}

// Trap S20 (tokio #6986).
TEST_F(TaskTest, ADroppedHandleForgetsItsWaker) {
  int alive_wakers = 0;
  {
    JoinHandle<int> handle = schedule_->Start(Gate(this));
    const Waker waker = CountedWaker(&alive_wakers);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  EXPECT_EQ(alive_wakers, 0);
  open_ = true;
  schedule_->RunAll();
}

TEST_F(TaskTest, CompletionForgetsTheWaker) {
  int alive_wakers = 0;
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  {
    const Waker waker = CountedWaker(&alive_wakers);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  EXPECT_EQ(alive_wakers, 1);
  schedule_->RunAll();
  EXPECT_EQ(alive_wakers, 0);
}

TEST_F(TaskTest, TheWakerOfTheLastPollIsTheOneThatCounts) {
  int alive_wakers = 0;
  int woken[2] = {0, 0};
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  for (int& count : woken) {
    const Waker waker = CountedWaker(&alive_wakers, &count);
    for (int again = 0; again < 2; ++again) {
      Context cx(waker);
      EXPECT_TRUE(handle.Poll(cx).IsPending());
    }
  }
  EXPECT_EQ(alive_wakers, 1);
  open_ = true;
  schedule_->RunAll();
  EXPECT_EQ(woken[0], 0);
  EXPECT_EQ(woken[1], 1);
}

TEST_F(TaskTest, PollingAgainWithTheSameWakerClonesNothing) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  static constexpr RawWakerVTable kCounting = {
      [](void* clones) {
        ++*static_cast<int*>(clones);
        return RawWaker{clones, &kCounting};
      },
      [](void*) {},
      [](void*) {},
      [](void*) {},
  };
  int clones = 0;
  const Waker waker(RawWaker{&clones, &kCounting});
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_EQ(clones, 1);
  handle.Abort();
  schedule_->RunAll();
}

TEST_F(TaskTest, AWakerMayDropTheHandle) {
  open_ = true;
  std::optional<JoinHandle<int>> handle = schedule_->Start(Gate(this));
  const Waker waker = Waker::FromCallable([&handle] { handle.reset(); });
  Context cx(waker);
  EXPECT_TRUE(handle->Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_FALSE(handle.has_value());
}

TEST_F(TaskTest, AHandleMayBeDroppedByTheTask) {
  std::optional<JoinHandle<void>> handle;
  auto body = [&]() -> Co<> {
    handle.reset();
    co_return;
  };
  handle = schedule_->Start(body);
  schedule_->RunAll();
}

TEST_F(TaskTest, ADetachedTaskDropsItsOutput) {
  auto body = [this]() -> Co<std::unique_ptr<Tracked>> {
    co_return std::make_unique<Tracked>(&alive_);
  };
  schedule_->Start(body).Detach();
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
}

TEST_F(TaskTest, AnOutputThatNobodyTookGoesWithTheHandle) {
  auto body = [this]() -> Co<std::unique_ptr<Tracked>> {
    co_return std::make_unique<Tracked>(&alive_);
  };
  auto handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 1);
  handle.Detach();
  EXPECT_EQ(alive_, 0);
}

// Traps S16 (tokio #1972) and S17 (tokio #3929).
TEST_F(TaskTest, AbortNeverDestroysTheFutureItself) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  handle.Abort();
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(schedule_->queued(), 1u);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("task 1")));
}

TEST_F(TaskTest, AbortBeforeTheFirstPollMeansNoPoll) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(polls_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskTest, ATaskThatAbortsItselfEndsAtItsNextSuspension) {
  std::optional<JoinHandle<void>> handle;
  int steps = 0;
  auto body = [&]() -> Co<> {
    handle->Abort();
    ++steps;
    co_await Gate(this);
    ++steps;
  };
  handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(steps, 1);
  EXPECT_THAT(PollOnce(*handle).value(),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskTest, ShutdownCancelsAQueuedTask) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->ShutdownListed();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
  schedule_->RunAll();  // finds it gone
  EXPECT_EQ(polls_, 0);
}

TEST_F(TaskTest, ShutdownCancelsASuspendedTask) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  schedule_->ShutdownListed();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskTest, WakersOfATaskThatHasEndedDoNothing) {
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  schedule_->RunAll();
  Waker other = waker_.Clone();
  handle.Abort();
  schedule_->RunAll();
  waker_.WakeByRef();
  std::move(other).Wake();
  EXPECT_EQ(schedule_->queued(), 0u);
}

// Trap S16 (tokio #2062).
TEST_F(TaskTest, AFutureMayWakeItsTaskWhileItIsDestroyed) {
  class WakesAtItsEnd {
   public:
    WakesAtItsEnd() = default;
    WakesAtItsEnd(WakesAtItsEnd&& other) noexcept = default;
    WakesAtItsEnd& operator=(WakesAtItsEnd&&) = delete;
    ~WakesAtItsEnd() {
      waker_.WakeByRef();
      std::move(waker_).Wake();
    }
    PollResult<int> Poll(Context& cx) {
      waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    Waker waker_;
  };
  JoinHandle<int> handle = schedule_->Start(WakesAtItsEnd());
  schedule_->RunAll();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->queued(), 0u);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(TaskTest, TheHandleKnowsTheIdOfATaskThatIsGone) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  EXPECT_EQ(handle.id(), 1u);
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
  EXPECT_EQ(handle.id(), 1u);
}

// Records the current task wherever user code runs.
class RecordsTaskId {
 public:
  explicit RecordsTaskId(std::vector<std::optional<TaskId>>* seen)
      : seen_(seen) {}
  RecordsTaskId(RecordsTaskId&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)) {}
  RecordsTaskId& operator=(RecordsTaskId&&) = delete;
  ~RecordsTaskId() {
    if (seen_ != nullptr) seen_->push_back(CurrentTaskId());
  }
  PollResult<void> Poll(Context&) {
    seen_->push_back(CurrentTaskId());
    return kPending;
  }

 private:
  std::vector<std::optional<TaskId>>* seen_;
};

TEST_F(TaskTest, TheCurrentTaskIsTheOneThatIsPolledOrDestroyed) {
  std::vector<std::optional<TaskId>> seen;
  JoinHandle<void> aborted = schedule_->Start(RecordsTaskId(&seen));
  schedule_->RunAll();
  aborted.Abort();
  schedule_->RunAll();
  JoinHandle<void> shut_down = schedule_->Start(RecordsTaskId(&seen));
  schedule_->ShutdownListed();
  schedule_->RunAll();
  EXPECT_THAT(seen, ElementsAre(Optional(1u), Optional(1u), Optional(2u)));
  EXPECT_EQ(CurrentTaskId(), std::nullopt);
}

TEST_F(TaskTest, TheCurrentTaskIsRestoredAfterAnInnerOne) {
  auto* inner_schedule = new ManualSchedule;
  std::vector<std::optional<TaskId>> seen;
  auto inner = [&]() -> Co<> {
    seen.push_back(CurrentTaskId());
    co_return;
  };
  inner_schedule->Start(inner).Detach();
  inner_schedule->RunAll();
  auto outer = [&]() -> Co<> {
    inner_schedule->Start(inner).Detach();
    inner_schedule->RunAll();
    seen.push_back(CurrentTaskId());
    co_return;
  };
  schedule_->Start(outer).Detach();
  schedule_->RunAll();
  EXPECT_THAT(seen, ElementsAre(Optional(1u), Optional(2u), Optional(1u)));
  inner_schedule->Unref();
}

TEST_F(TaskTest, ACallableIsKeptUntilItsFutureHasEnded) {
  auto body = [tracked = Tracked(&alive_), this]() -> Co<int> {
    co_return co_await Gate(this);
  };
  JoinHandle<int> handle = schedule_->Start(std::move(body));
  schedule_->RunAll();
  open_ = true;
  std::move(waker_).Wake();
  schedule_->RunAll();
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(TaskTest, AnExceptionBecomesAnErrorAndIsKept) {
  auto body = [this]() -> Co<int> {
    const Tracked tracked(&alive_);
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinHandle<int> handle = schedule_->Start(body);
  schedule_->RunAll();
  EXPECT_EQ(alive_, 0);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("oops")));
  EXPECT_THROW(std::rethrow_exception(handle.exception()), std::runtime_error);
}

TEST_F(TaskTest, AnExceptionThatNobodyTakesIsDropped) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  schedule_->Start(body).Detach();
  schedule_->RunAll();
}

TEST_F(TaskTest, TheScheduleIsToldOfAnExceptionFirst) {
  auto body = []() -> Co<int> {
    throw std::runtime_error("oops");
    co_return 0;
  };
  JoinHandle<int> handle = schedule_->Start(body);
  int told_first = 0;
  const Waker waker =
      Waker::FromCallable([&] { told_first = schedule_->threw(); });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  schedule_->RunAll();
  EXPECT_EQ(told_first, 1);
}

TEST_F(TaskTest, TheScheduleIsNotToldOfOtherEnds) {
  open_ = true;
  schedule_->Start(Gate(this)).Detach();
  schedule_->RunAll();
  schedule_->Start(Gate(this)).Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 0);
}

// Throws when it is destroyed, if it has been polled.
class ThrowsAtItsEnd {
 public:
  explicit ThrowsAtItsEnd(bool ready) : ready_(ready) {}
  ThrowsAtItsEnd(ThrowsAtItsEnd&& other) noexcept : ready_(other.ready_) {}
  ThrowsAtItsEnd& operator=(ThrowsAtItsEnd&&) = delete;
  ~ThrowsAtItsEnd() noexcept(false) {
    if (polled_) throw std::runtime_error("the end");
  }
  PollResult<int> Poll(Context&) {
    polled_ = true;
    if (ready_) return 7;
    return kPending;
  }

 private:
  bool ready_;
  bool polled_ = false;
};

TEST_F(TaskTest, AFutureThatThrowsWhenItHasEndedGivesTheException) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(true));
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the end")));
}

TEST_F(TaskTest, AFutureThatThrowsWhenItIsCancelledGivesTheException) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(false));
  schedule_->RunAll();
  handle.Abort();
  schedule_->RunAll();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the end")));
}

TEST_F(TaskTest, AFutureThatThrowsWhenItIsShutDownGivesTheException) {
  JoinHandle<int> handle = schedule_->Start(ThrowsAtItsEnd(false));
  schedule_->RunAll();
  schedule_->ShutdownListed();
  EXPECT_EQ(schedule_->threw(), 1);
  EXPECT_THAT(PollOnce(handle).value(), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(TaskTest, AJoinersWakerThatThrowsLeavesTheTaskComplete) {
  open_ = true;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  const Waker waker =
      Waker::FromCallable([] { throw std::runtime_error("no"); });
  Context cx(waker);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_THROW(schedule_->RunAll(), std::runtime_error);
  EXPECT_THAT(PollOnce(handle).value(), IsOkAndHolds(7));
}

TEST_F(TaskTest, AWakerThatCannotBeClonedLeavesTheOneBefore) {
  static constexpr RawWakerVTable kNoClone = {
      [](void*) -> RawWaker { throw std::runtime_error("no"); },
      [](void*) {},
      [](void*) {},
      [](void*) {},
  };
  open_ = true;
  int alive_wakers = 0;
  int woken = 0;
  JoinHandle<int> handle = schedule_->Start(Gate(this));
  {
    const Waker waker = CountedWaker(&alive_wakers, &woken);
    Context cx(waker);
    EXPECT_TRUE(handle.Poll(cx).IsPending());
  }
  const Waker waker(RawWaker{&alive_wakers, &kNoClone});
  Context cx(waker);
  EXPECT_THROW((void)handle.Poll(cx), std::runtime_error);
  EXPECT_EQ(alive_wakers, 1);
  schedule_->RunAll();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(alive_wakers, 0);
}
#endif

// Threads that wake, abort and join one task while another runs it.
TEST_F(TaskTest, SurvivesWakesAbortsAndJoinsAtOnce) {
  for (int round = 0; round < 500; ++round) {
    class Counter {
     public:
      explicit Counter(std::atomic<int>* left) : left_(left) {}
      PollResult<void> Poll(Context& cx) {
        if (left_->fetch_sub(1) <= 0) return {};
        cx.waker().WakeByRef();
        return kPending;
      }

     private:
      std::atomic<int>* left_;
    };
    // A queue that several threads may push to.
    class LockedSchedule final : public Schedule {
     public:
      void Submit(Header* task) override { Resubmit(task); }
      void Resubmit(Header* task) override {
        const std::lock_guard lock(mu_);
        queue_.push_back(task);
      }
      bool Release(Header*) override { return true; }
      Header* Pop() {
        const std::lock_guard lock(mu_);
        if (queue_.empty()) return nullptr;
        Header* task = queue_.front();
        queue_.pop_front();
        return task;
      }

     private:
      std::mutex mu_;
      std::deque<Header*> queue_;
    };
    std::atomic<int> left{20};
    auto* schedule = new LockedSchedule;
    auto* task = new Cell<Counter>(schedule, 1, Counter(&left));
    JoinHandle<void> handle(task);
    Waker waker(RawWakerOf(task));
    task->state.Ref();
    schedule->Submit(task);
    std::thread waking([waker = std::move(waker)]() mutable {
      for (int i = 0; i < 10; ++i) waker.WakeByRef();
      std::move(waker).Wake();
    });
    std::thread aborting([&handle, round] {
      if (round % 2 == 0) handle.Abort();
    });
    FastRand rand(1);
    while (!handle.IsFinished()) {
      if (Header* next = schedule->Pop()) task::Run(next, &rand);
    }
    waking.join();
    aborting.join();
    while (Header* next = schedule->Pop()) task::Run(next, &rand);
    const absl::Status status = PollOnce(handle).value();
    EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
    schedule->Unref();
  }
}

}  // namespace
}  // namespace rouse::task
