// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Children are woken while their set polls and removes them, or is destroyed. A
// lost wake is a deadlock. The checker itself finds children that are freed too
// early or never.

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/base/atomic.h"
#include "rouse/future/many/child_item.h"
#include "rouse/future/many/child_set.h"
#include "rouse/future/poll_fn.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;

// An event for which a child waits. The child must be polled before `Set()`.
class Event {
 public:
  void Set() {
    // Release pairs with the acquire of Poll.
    is_set_.store(true, std::memory_order_release);
    std::move(waker_).Wake();
  }

  PollResult<int> Poll(Context& cx) {
    if (is_set_.load(std::memory_order_acquire)) return 1;
    if (waker_.IsNoop()) waker_ = cx.waker().Clone();
    if (yields) cx.waker().WakeByRef();
    return kPending;
  }

  // Whether a child that waits is polled again and again.
  bool yields = false;

 private:
  Atomic<bool> is_set_{false};
  Waker waker_;
};

class Child {
 public:
  explicit Child(Event& event) : event_(&event) {}

  PollResult<int> Poll(Context& cx) { return event_->Poll(cx); }

 private:
  Event* event_;
};

// A task that uses a set of children, and polls a limited number of times.
class Owner {
 public:
  // Adds a child of each event, and polls the children once.
  explicit Owner(Event (&events)[2]) : set_(std::in_place) {
    for (size_t i = 0; i < 2; ++i) set_->Add(Child(events[i]), i);
    Poll();
  }

  // Polls once. Returns false if the poll is pending.
  bool Poll() {
    task_.ForgetWakes();
    auto poll = PollFn([this](Context& cx) {
      return set_->Poll(cx, [this](size_t key, PollResult<int>&&) {
        ++ready_[key];
        return true;
      });
    });
    return task_.Poll(poll).IsReady();
  }

  // Called when all children were woken. Checks that the task was woken if its
  // last poll was pending, and that each child is ready once.
  void Finish(bool is_pending) {
    Require(!is_pending || task_.woken());
    while (set_->size() > 0) Require(Poll());
    Require(ready_[0] == 1 && ready_[1] == 1);
  }

  void DestroySet() { set_.reset(); }
  void ClearSet() { set_->ClearAndWake(); }

  bool WasWoken() const { return task_.woken(); }

 private:
  model::Task task_;
  std::optional<ChildSet<Child>> set_;
  int ready_[2] = {};
};

MODEL_TEST(ChildSet, EachChildIsReadyOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Event events[2];
  Owner owner(events);
  Thread first([&events] { events[0].Set(); });
  Thread second([&events] { events[1].Set(); });
  bool is_pending = false;
  for (int i = 0; i < 2 && !is_pending; ++i) is_pending = !owner.Poll();
  first.Join();
  second.Join();
  owner.Finish(is_pending);
}

// A child can be removed before its wake, during the wake, or afterwards.
MODEL_TEST(ChildSet, AWakeComesWhenTheChildIsReady, .spurious_failures = 0) {
  Event events[2];
  events[0].yields = true;
  Owner owner(events);
  Thread thread([&events] { events[0].Set(); });
  bool is_pending = false;
  for (int i = 0; i < 2 && !is_pending; ++i) is_pending = !owner.Poll();
  thread.Join();
  events[1].Set();
  owner.Finish(is_pending);
}

// The child that yields ends each poll of the set.
MODEL_TEST(ChildSet, AWakeComesBesideAChildThatYields, .spurious_failures = 0) {
  Event events[2];
  events[0].yields = true;
  Owner owner(events);
  Thread thread([&events] { events[1].Set(); });
  bool is_pending = false;
  for (int i = 0; i < 2 && !is_pending; ++i) is_pending = !owner.Poll();
  thread.Join();
  events[0].Set();
  owner.Finish(is_pending);
}

// A child that stays in the set: a stream of one item. From then on another
// thread may wake the child, and does so at the end of the stream.
class StayingChild {
 public:
  StayingChild(Event& event, std::optional<Thread>& thread)
      : event_(&event), thread_(&thread) {}

  PollResult<bool> Poll(Context& cx) {
    const bool has_happened = event_->Poll(cx).IsReady();
    if (!thread_->has_value()) {
      thread_->emplace([event = event_] { event->Set(); });
      return true;
    }
    if (!has_happened) return kPending;
    has_ended_ = true;
    return false;
  }

  bool HasEnded() const { return has_ended_; }

 private:
  Event* event_;
  std::optional<Thread>* thread_;
  bool has_ended_ = false;
};

}  // namespace

template <>
inline constexpr bool kStaysInSet<StayingChild> = true;

namespace {

// The wake comes before, while or after the set keeps the child for its next
// poll. The child is polled again in any case, and comes back only once.
MODEL_TEST(ChildSet, AWakeComesWhenTheChildStays, .spurious_failures = 0) {
  Event event;
  model::Task task;
  std::optional<Thread> thread;
  ChildSet<StayingChild> set;
  int items = 0;
  int ends = 0;
  const auto poll = [&] {
    task.ForgetWakes();
    return task.Poll(PollFn([&](Context& cx) {
      return set.Poll(cx, [&](size_t, PollResult<bool>&& has_item) {
        ++(*has_item ? items : ends);
        return *has_item;
      });
    }));
  };
  set.Add(StayingChild(event, thread), 0);
  Require(*poll());
  const bool is_pending = poll().IsPending();
  thread->Join();
  Require(!is_pending || task.woken());
  if (is_pending) Require(!*poll());
  Require(items == 1 && ends == 1 && set.size() == 0);
}

MODEL_TEST(ChildSet, ASetIsDestroyedDuringAWake, .spurious_failures = 0) {
  Event events[2];
  events[0].yields = true;
  Owner owner(events);
  Thread thread([&events] { events[0].Set(); });
  static_cast<void>(owner.Poll());
  owner.DestroySet();
  thread.Join();
  events[1].Set();
}

// The task that waits for the set must learn that the set is empty.
MODEL_TEST(ChildSet, ASetIsClearedDuringAWake, .spurious_failures = 0) {
  Event events[2];
  Owner owner(events);
  Thread thread([&events] { events[0].Set(); });
  owner.ClearSet();
  thread.Join();
  Require(owner.WasWoken());
  events[1].Set();
}

MODEL_MUTANTS(ChildSet, "future/many/",
              "ReadyList::Ref at: killed by join_set_model_test",
              "ReadyList::Unref at: killed by join_set_model_test",
              "ReadyList::MarkReady: killed by join_set_model_test",
              "ReadyList::Push: killed by join_set_model_test",
              "ReadyList::Rearm: killed by join_set_model_test",
              "ReadyList::Close: killed by join_set_model_test",
              "ReadyEntry::Ref: killed by join_set_model_test");

}  // namespace
}  // namespace rouse::internal
