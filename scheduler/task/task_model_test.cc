// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task from its start to its last reference, with threads that concurrently
// run, wake, abort, join and drop it. The checker itself finds objects that are
// lost, destroyed twice or never freed.

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/future.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/model_util.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// A queue for the one task of a model. The queue orders nothing: the task's
// state must make the actions of a waking thread visible to the poll.
class OneTaskSchedule final : public Schedule {
 public:
  void Submit(Header* task) override {
    // Like `Scheduler`: the task may end, and everything else with it.
    Ref();
    const absl::Cleanup unref = [this] { Unref(); };
    uint32_t before = 0;
    if (queued_.compare_exchange_strong(before, 1, std::memory_order_relaxed)) {
      model::FutexWakeOne(queued_);
      return;
    }
    Require(before == kClosed, "the task is in the queue twice");
    task::Discard(task);
  }
  void Resubmit(Header* task) override { Submit(task); }
  bool Release(Header* task) override {
    return listed_.exchange(nullptr, std::memory_order_relaxed) == task;
  }

  template <class F>
  JoinHandle<FutureOutput<F>> Start(F future) {
    task_ = new Cell<F>(this, 1, std::move(future));
    listed_.store(task_, std::memory_order_relaxed);
    queued_.store(1, std::memory_order_relaxed);
    return JoinHandle<FutureOutput<F>>(task_);
  }

  // Runs the task if it is queued.
  bool RunNext() {
    if (queued_.exchange(0, std::memory_order_relaxed) == 0) return false;
    FastRand rand(1);
    task::Run(task_, &rand);
    return true;
  }

  // Runs the task, whenever it is queued, until it has ended. No other thread
  // runs the task. If the task is never woken, this is a deadlock.
  template <class T>
  void RunToEnd(const JoinHandle<T>& handle) {
    while (!handle.IsFinished()) {
      while (!RunNext()) model::FutexWait(queued_, 0);
    }
  }

  // Discards a task that is queued now or later.
  void Close() {
    if (queued_.exchange(kClosed, std::memory_order_relaxed) == 1) {
      task::Discard(task_);
    }
  }

  void ShutDown() {
    Header* task = listed_.exchange(nullptr, std::memory_order_relaxed);
    if (task == nullptr) return;
    task::Shutdown(task);
    task::Unref(task);
  }

 private:
  static constexpr uint32_t kClosed = 2;

  Header* task_ = nullptr;
  Atomic<uint32_t> queued_{0};
  Atomic<Header*> listed_{nullptr};
};

// Keeps the schedule until the end of a model, after the end of its tasks.
class ScheduleOwner {
 public:
  ScheduleOwner() = default;
  ScheduleOwner(const ScheduleOwner&) = delete;
  ScheduleOwner& operator=(const ScheduleOwner&) = delete;
  ~ScheduleOwner() { schedule_->Unref(); }
  OneTaskSchedule* get() const { return schedule_; }
  OneTaskSchedule* operator->() const { return schedule_; }

 private:
  OneTaskSchedule* const schedule_ = new OneTaskSchedule;
};

// An output whose construction, moves and destruction must not race.
class Output {
 public:
  explicit Output(PlainInt& alive) : alive_(&alive), value_(7) {
    ++alive_->Write();
  }
  Output(Output&& other) noexcept
      : alive_(other.alive_), value_(other.value_.Read()) {
    ++alive_->Write();
  }
  Output& operator=(Output&& other) noexcept {
    value_.Write() = other.value_.Read();
    return *this;
  }
  ~Output() {
    value_.Write() = 0;
    --alive_->Write();
  }
  int value() const { return value_.Read(); }

 private:
  PlainInt* alive_;
  PlainInt value_;
};

// A future that is ready with an output when its event has been signalled.
class Produce {
 public:
  Produce(Event& event, PlainInt& alive) : event_(&event), alive_(&alive) {}
  PollResult<Output> Poll(Context& cx) {
    if (!event_->open.load(std::memory_order_relaxed)) {
      event_->waker.Register(cx.waker());
      if (!event_->open.load(std::memory_order_relaxed)) return kPending;
    }
    return Output(*alive_);
  }

 private:
  Event* event_;
  PlainInt* alive_;
};

// A future that is ready with an output at once.
class ProduceAtOnce {
 public:
  explicit ProduceAtOnce(PlainInt& alive) : alive_(&alive) {}
  PollResult<Output> Poll(Context&) { return Output(*alive_); }

 private:
  PlainInt* alive_;
};

template <class T>
std::optional<JoinResult<T>> PollOnce(JoinHandle<T>& handle,
                                      const Waker& waker = Waker()) {
  Context cx(waker);
  PollResult<JoinResult<T>> result = handle.Poll(cx);
  if (result.IsPending()) return std::nullopt;
  return std::move(result).value();
}

MODEL_TEST(Task, IsWokenWhileRunningOrIdle, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  JoinHandle<int> handle = schedule->Start(Wait(event, uses));
  Thread signalling([&] { event.Signal(); });
  schedule->RunToEnd(handle);
  Require(**PollOnce(handle) == 7);
}

// Trap S21 (tokio #7622): a wake that finds the task notified must still
// publish.
MODEL_TEST(Task, APollSeesWhatCameBeforeEveryWake, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  Atomic<int> signals(0);
  // Ready when both threads have signalled. Does not access the waker's cell
  // again.
  class Both {
   public:
    Both(std::optional<Waker>* waker, Atomic<int>* signals)
        : waker_(waker), signals_(signals) {}
    PollResult<int> Poll(Context& cx) {
      if (!waker_->has_value()) *waker_ = cx.waker().Clone();
      if (signals_->load(std::memory_order_relaxed) != 3) return kPending;
      return 7;
    }

   private:
    std::optional<Waker>* waker_;
    Atomic<int>* signals_;
  };
  std::optional<Waker> waker;
  JoinHandle<int> handle = schedule->Start(Both(&waker, &signals));
  schedule->RunNext();
  signals.fetch_or(1, std::memory_order_relaxed);
  waker->WakeByRef();
  Thread other([&, clone = waker->Clone()]() mutable {
    signals.fetch_or(2, std::memory_order_relaxed);
    std::move(clone).Wake();
  });
  schedule->RunToEnd(handle);
  waker.reset();
}

MODEL_TEST(Task, IsPolledByOneThreadAtATime) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  JoinHandle<int> handle = schedule->Start(Wait(event, uses));
  Thread worker([&] { schedule->RunNext(); });
  schedule->RunNext();
  event.Signal();
  worker.Join();
  schedule->RunToEnd(handle);
}

MODEL_TEST(Task, IsAbortedOnlyByTheThreadThatRunsIt, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  JoinHandle<int> handle = schedule->Start(Wait(event, uses));
  Thread aborting([&] { handle.Abort(); });
  schedule->RunToEnd(handle);
  aborting.Join();
  Require((*PollOnce(handle)).status().code() == absl::StatusCode::kCancelled);
}

MODEL_TEST(Task, IsAbortedAndWokenAtOnce, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  JoinHandle<int> handle = schedule->Start(Wait(event, uses));
  schedule->RunNext();
  Thread aborting([&] { handle.Abort(); });
  event.Signal();
  schedule->RunToEnd(handle);
  aborting.Join();
  const JoinResult<int> result = *PollOnce(handle);
  Require(result.ok() ? *result == 7
                      : result.status().code() == absl::StatusCode::kCancelled);
}

// Joins a suspended task in one of several ways, while another thread acts on
// the task.
class Joiner {
 public:
  // Polls the handle for the first time; polls it again with another waker;
  // drops it when it has a waker; polls it again with the same waker; or drops
  // it. The first `ways` of these are explored.
  explicit Joiner(int ways = 5)
      : way_(static_cast<Way>(model::Choose(ways))), schedule_() {
    handle_ = schedule_->Start(Produce(event_, alive_));
    schedule_->RunNext();
    if (way_ != kRegister && way_ != kDrop) Poll(0);
  }
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  // Called by the thread that made the joiner.
  void Act() {
    switch (way_) {
      case kRegister:
      case kRegisterAgain:
        return Poll(0);
      case kRegisterAnother:
        return Poll(1);
      case kDrop:
      case kDropWithWaker:
        return handle_.reset();
    }
  }

  // Called when the task and the other threads have ended.
  void Finish() {
    if (handle_.has_value()) {
      // A joiner whose poll returned pending has been woken.
      if (waits_with_.has_value()) {
        Require(woken_[*waits_with_].load(std::memory_order_relaxed),
                "the joiner was not woken");
        Poll(0);
      }
      Require(!waits_with_.has_value(), "the joiner waits for ever");
      handle_.reset();
    }
    Require(alive_.Read() == 0);
  }

  OneTaskSchedule& schedule() { return *schedule_.get(); }
  Event& event() { return event_; }
  AbortHandle abort_handle() const { return handle_->abort_handle(); }

 private:
  enum Way {
    kRegister,
    kRegisterAnother,
    kDropWithWaker,
    kRegisterAgain,
    kDrop
  };

  void Poll(int with) {
    Context cx(wakers_[with]);
    PollResult<JoinResult<Output>> result = handle_->Poll(cx);
    if (result.IsPending()) {
      waits_with_ = with;
      return;
    }
    waits_with_.reset();
    const JoinResult<Output> output = std::move(result).value();
    Require(output.ok() ? output->value() == 7
                        : absl::IsCancelled(output.status()));
  }

  const Way way_;
  const ScheduleOwner schedule_;
  Event event_;
  PlainInt alive_{0};
  std::optional<JoinHandle<Output>> handle_;
  std::optional<int> waits_with_;
  Atomic<bool> woken_[2] = {{false}, {false}};
  // No copy of these wakers may be left, either.
  const Waker wakers_[2] = {Waker::FromCallable([this] {
                              woken_[0].store(true, std::memory_order_relaxed);
                            }),
                            Waker::FromCallable([this] {
                              woken_[1].store(true, std::memory_order_relaxed);
                            })};
};

// Trap S20 (tokio #2096, #2044, #6986): the joiner is woken, and each waker and
// each output is dropped exactly once.
MODEL_TEST(Task, CompletesDuringAJoin, .spurious_failures = 0) {
  Joiner joiner;
  joiner.event().Signal();
  Thread worker([&] { joiner.schedule().RunNext(); });
  joiner.Act();
  worker.Join();
  joiner.Finish();
}

// A handle that takes back a waker and sets another one leaves the state
// unchanged, if it has done so before.
MODEL_TEST(Task, CompletesDuringTheThirdPollOfAJoin, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt alive(0);
  Atomic<int> woken(-1);
  const auto make_waker = [&woken](int number) {
    return Waker::FromCallable(
        [&woken, number] { woken.store(number, std::memory_order_relaxed); });
  };
  JoinHandle<Output> handle = schedule->Start(Produce(event, alive));
  schedule->RunNext();
  Require(!PollOnce(handle, make_waker(1)).has_value());
  Require(!PollOnce(handle, make_waker(2)).has_value());
  event.Signal();
  Thread worker([&] { schedule->RunNext(); });
  const bool ended = PollOnce(handle, make_waker(3)).has_value();
  worker.Join();
  Require(ended || woken.load(std::memory_order_relaxed) == 3);
}

MODEL_TEST(Task, IsWokenDuringAJoin) {
  Joiner joiner;
  Thread signalling([&] { joiner.event().Signal(); });
  joiner.Act();
  signalling.Join();
  joiner.schedule().RunNext();
  joiner.Finish();
}

MODEL_TEST(Task, IsAbortedDuringAJoin) {
  Joiner joiner;
  Thread aborting([&, abort = joiner.abort_handle()] { abort.Abort(); });
  joiner.Act();
  aborting.Join();
  joiner.schedule().RunNext();
  joiner.Finish();
}

// Trap S18 (tokio #3672).
MODEL_TEST(Task, IsShutDownDuringAJoin, .spurious_failures = 0) {
  Joiner joiner;
  Thread stopping([&] { joiner.schedule().ShutDown(); });
  joiner.Act();
  stopping.Join();
  joiner.Finish();
  joiner.event().waker.Take().Reset();
}

MODEL_TEST(Task, CompletesAndIsAbortedDuringAJoin,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  Joiner joiner(3);
  joiner.event().Signal();
  Thread worker([&] { joiner.schedule().RunNext(); });
  Thread aborting([&, abort = joiner.abort_handle()] { abort.Abort(); });
  joiner.Act();
  worker.Join();
  aborting.Join();
  joiner.Finish();
}

// Trap S18 (tokio #3159).
MODEL_TEST(Task, IsAbortedAndShutDownDuringAJoin, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Joiner joiner(3);
  Thread stopping([&] { joiner.schedule().ShutDown(); });
  Thread aborting([&, abort = joiner.abort_handle()] { abort.Abort(); });
  joiner.Act();
  stopping.Join();
  aborting.Join();
  // The queue may still have a hold, which must be dropped.
  joiner.schedule().RunNext();
  joiner.Finish();
  joiner.event().waker.Take().Reset();
}

MODEL_TEST(Task, WakesTheJoinerForTheOutput, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt alive(0);
  Atomic<uint32_t> woken(0);
  JoinHandle<Output> handle = schedule->Start(Produce(event, alive));
  schedule->RunNext();
  event.Signal();
  Thread worker([&] { schedule->RunNext(); });
  const Waker waker = Waker::FromCallable([&] {
    // Like in every executor, a wake comes before the poll that it causes.
    woken.store(1, std::memory_order_release);
    model::FutexWakeOne(woken);
  });
  {
    std::optional<JoinResult<Output>> result;
    while (!(result = PollOnce(handle, waker)).has_value()) {
      while (woken.load(std::memory_order_acquire) == 0) {
        model::FutexWait(woken, 0);
      }
    }
    Require((**result).value() == 7);
  }
  worker.Join();
  Require(alive.Read() == 0);
}

MODEL_TEST(Task, IsFinishedShowsWhatTheTaskDid) {
  const ScheduleOwner schedule;
  PlainInt alive(0);
  JoinHandle<Output> handle = schedule->Start(ProduceAtOnce(alive));
  Thread worker([&] { schedule->RunNext(); });
  while (!handle.IsFinished()) model::SpinHint();
  Require(alive.Read() == 1);
}

// The schedule still exists when the wake reaches it, and is destroyed with the
// task.
MODEL_TEST(Task, AWakeRacesWithTheSchedulesDestruction) {
  Event event;
  PlainInt uses(0);
  std::optional<ScheduleOwner> schedule(std::in_place);
  std::optional<JoinHandle<int>> handle = (*schedule)->Start(Wait(event, uses));
  (*schedule)->RunNext();
  Thread signalling([&] { event.Signal(); });
  (*schedule)->Close();
  (*schedule)->ShutDown();
  Require(handle->IsFinished());
  handle.reset();
  schedule.reset();
}

MODEL_TEST(Task, IsShutDownWhileItIsWokenAndRun, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  JoinHandle<int> handle = schedule->Start(Wait(event, uses));
  schedule->RunNext();
  Thread signalling([&] { event.Signal(); });
  Thread stopping([&] { schedule->ShutDown(); });
  schedule->RunNext();
  signalling.Join();
  stopping.Join();
  // The task has been ended, and any hold in the queue must be dropped.
  Require(handle.IsFinished());
  schedule->RunNext();
}

MODEL_TEST(Task, IsFreedWithItsLastWaker) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt uses(0);
  {
    const JoinHandle<int> handle = schedule->Start(Wait(event, uses));
    schedule->RunNext();
    handle.Abort();
    Thread worker([&] { schedule->RunNext(); });
    // The event still has the waker, which has no effect on a task that has
    // ended.
    event.Signal();
  }
  schedule->RunNext();
}

// No joiner waits, so no joiner is notified.
MODEL_TEST(Task, CompletesDetachedWhileAWakerIsDropped,
           .spurious_failures = 0) {
  const ScheduleOwner schedule;
  Event event;
  PlainInt alive(0);
  schedule->Start(Produce(event, alive)).Detach();
  schedule->RunNext();
  Waker waker = event.waker.Take();
  event.open.store(true, std::memory_order_relaxed);
  waker.WakeByRef();
  Thread dropping([&] { waker.Reset(); });
  schedule->RunNext();
  dropping.Join();
  Require(alive.Read() == 0);
}

MODEL_MUTANTS(Task, "scheduler/task/");

}  // namespace
}  // namespace rouse::task
