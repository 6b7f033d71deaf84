// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Entries are woken while their owner polls, drops an entry, or is itself
// destroyed. Above them, the tasks of a `JoinSet` end meanwhile. A lost wake is
// a deadlock. The checker itself finds objects that are freed too early or
// never.

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/future.h"
#include "rouse/future/many/ready_list.h"
#include "rouse/scheduler/group/join_map.h"
#include "rouse/scheduler/group/join_set.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {
namespace {

using internal::ReadyEntry;
using internal::ReadyList;
using model::Require;
using model::Thread;
using PlainInt = model::Cell<int>;

// An entry with data that the owner may access when the entry has been woken.
class Entry final : public ReadyEntry {
 public:
  explicit Entry(ReadyList* list) : ReadyEntry(list) {}

  Waker NewWaker() { return BorrowedWaker(raw_waker()).get().Clone(); }

  PlainInt data{0};

 private:
  ~Entry() override = default;
};

// A list and its owner, which polls the list a limited number of times.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { list_->Unref(); }

  ReadyList* list() { return list_; }

  // Like a poll. If the result is null, any later entry wakes the owner.
  Entry* Poll() {
    task_.ForgetWakes();
    list_->Register(task_.waker());
    return static_cast<Entry*>(list_->Pop());
  }

  bool WasWoken() const { return task_.woken(); }

 private:
  ReadyList* const list_ = new ReadyList;
  model::Task task_;
};

MODEL_TEST(JoinSet, NoEntryIsLostOrReturnedTwice, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Owner owner;
  Entry* const a = new Entry(owner.list());
  Entry* const b = new Entry(owner.list());
  Thread first([waker = a->NewWaker(), a]() mutable {
    a->data.Write() = 1;
    std::move(waker).Wake();
  });
  Thread second([waker = b->NewWaker(), b]() mutable {
    b->data.Write() = 2;
    std::move(waker).Wake();
  });
  int sum = 0;
  const auto take = [&sum](Entry* entry) {
    sum += entry->data.Read();
    // The wake may still be in progress.
    entry->Unref();
  };
  bool asleep = false;
  for (int i = 0; i < 2 && !asleep; ++i) {
    Entry* const entry = owner.Poll();
    asleep = entry == nullptr;
    if (!asleep) take(entry);
  }
  first.Join();
  second.Join();
  Require(!asleep || owner.WasWoken());
  while (ReadyEntry* entry = owner.list()->Pop()) {
    take(static_cast<Entry*>(entry));
  }
  Require(sum == 3);
  owner.list()->Close();
}

MODEL_TEST(JoinSet, TheOwnerIsDestroyedWhileEntriesAreWoken) {
  Owner owner;
  Entry* const a = new Entry(owner.list());
  Entry* const b = new Entry(owner.list());
  Thread other([first = a->NewWaker(), second = b->NewWaker()]() mutable {
    std::move(first).Wake();
    std::move(second).Wake();
  });
  const Waker waker;
  owner.list()->Register(waker);
  static_cast<void>(owner.list()->Pop());
  owner.list()->Close();
  a->Unref();
  b->Unref();
}

// A wake that finds its entry in the list must publish nevertheless.
MODEL_TEST(JoinSet, RearmingSeesWhatCameBeforeEveryWake,
           .spurious_failures = 0) {
  Owner owner;
  Entry* const entry = new Entry(owner.list());
  Atomic<int> signals(0);
  Thread other([waker = entry->NewWaker(), &signals]() mutable {
    signals.fetch_or(1, std::memory_order_relaxed);
    waker.WakeByRef();
    signals.fetch_or(2, std::memory_order_relaxed);
    std::move(waker).Wake();
  });
  if (owner.Poll() == entry) {
    ReadyList::Rearm(entry);
    const bool saw_all = signals.load(std::memory_order_relaxed) == 3;
    other.Join();
    Require(saw_all || owner.list()->Pop() == entry);
  } else {
    other.Join();
    Require(owner.WasWoken() && owner.list()->Pop() == entry);
  }
  owner.list()->Close();
  entry->Unref();
}

MODEL_TEST(JoinSet, AnEntryThatIsNotRearmedDoesNotReturn) {
  Owner owner;
  Entry* const entry = new Entry(owner.list());
  Thread other([waker = entry->NewWaker()]() mutable {
    waker.WakeByRef();
    std::move(waker).Wake();
  });
  if (owner.list()->Pop() == entry) {
    entry->Unref();
    Require(owner.list()->Pop() == nullptr);
    owner.list()->Close();
  } else {
    owner.list()->Close();
    entry->Unref();
  }
}

MODEL_TEST(JoinSet, EntriesAreAddedWhileWakersAreClonedAndDropped) {
  Owner owner;
  Entry* const entry = new Entry(owner.list());
  Thread other(
      [waker = entry->NewWaker()] { const Waker clone = waker.Clone(); });
  {
    const Waker waker = entry->NewWaker();
  }
  entry->Unref();
  // Takes a reference to the list while the entry above may drop its reference.
  Entry* const next = new Entry(owner.list());
  next->Unref();
}

// Ends its task when a thread says so.
class OneTaskSchedule final : public task::Schedule {
 public:
  void Submit(task::Header*) override {
    Require(queued_.exchange(1, std::memory_order_relaxed) == 0,
            "the task is in the queue twice");
  }
  void Resubmit(task::Header* task) override { Submit(task); }
  bool Release(task::Header* task) override {
    return listed_.exchange(nullptr, std::memory_order_relaxed) == task;
  }

  template <class F>
  JoinHandle<FutureOutput<F>> Start(F future) {
    task_ = new task::Cell<F>(this, 1, std::move(future));
    listed_.store(task_, std::memory_order_relaxed);
    queued_.store(1, std::memory_order_relaxed);
    return JoinHandle<FutureOutput<F>>(task_);
  }

  void RunNext() {
    if (queued_.exchange(0, std::memory_order_relaxed) == 0) return;
    FastRand rand(1);
    task::Run(task_, &rand);
  }

 private:
  task::Header* task_ = nullptr;
  Atomic<uint32_t> queued_{0};
  Atomic<task::Header*> listed_{nullptr};
};

class Seven {
 public:
  Seven() = default;
  PollResult<int> Poll(Context&) { return 7; }
};

// Tokio's abort_all_during_completion.
MODEL_TEST(JoinSet, ATaskEndsWhileItIsAddedAndAborted,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto* const schedule = new OneTaskSchedule;
  {
    rouse::JoinSet<int> set;
    JoinHandle<int> handle = schedule->Start(Seven());
    Thread worker([&] { schedule->RunNext(); });
    set.Insert(std::move(handle));
    set.AbortAll();
    worker.Join();
    schedule->RunNext();
    const Waker waker;
    Context cx(waker);
    const auto result = set.PollNext(cx).value();
    Require(result->ok() ? **result == 7 : absl::IsCancelled(result->status()));
    Require(set.empty());
  }
  schedule->Unref();
}

MODEL_TEST(JoinSet, IsDestroyedWhileItsTaskEnds, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto* const schedule = new OneTaskSchedule;
  {
    std::optional<rouse::JoinSet<int>> set(std::in_place);
    set->Insert(schedule->Start(Seven()));
    Thread worker([&] { schedule->RunNext(); });
    const Waker waker;
    Context cx(waker);
    static_cast<void>(set->PollNext(cx));
    set.reset();
    worker.Join();
    schedule->RunNext();
  }
  schedule->Unref();
}

// The task of a key ends while another task replaces it.
MODEL_TEST(JoinSet, ATaskEndsWhileItIsReplacedInAMap,
           .mode = model::Mode::kBounded, .preemption_bound = 2,
           .spurious_failures = 0) {
  auto* const schedule = new OneTaskSchedule;
  auto* const other_schedule = new OneTaskSchedule;
  {
    rouse::JoinMap<int, int> map;
    map.Insert(1, schedule->Start(Seven()));
    model::Task task;
    auto next = map.Next();
    Require(task.Poll(next).IsPending());
    Thread worker([&] { schedule->RunNext(); });
    map.Insert(1, other_schedule->Start(Seven()));
    worker.Join();
    schedule->RunNext();
    Require(map.size() == 1);
    task.ForgetWakes();
    Require(task.Poll(next).IsPending());
    other_schedule->RunNext();
    Require(task.woken());
    Require(task.Poll(next).IsReady());
    Require(map.empty());
  }
  schedule->Unref();
  other_schedule->Unref();
}

MODEL_MUTANTS(
    JoinSet, "future/many/ready_list.",
    "ReadyList::Push at ready_list.cc:51: condition always "
    "false: nobody looks at a list that is closed; the owner is woken "
    "for nothing",
    "ReadyList::Close at ready_list.cc:96: store skipped: likewise");

}  // namespace
}  // namespace rouse::scheduler
