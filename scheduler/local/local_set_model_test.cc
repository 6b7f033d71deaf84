// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other threads wake and abort the tasks of a `LocalSet` while the set is
// polled and destroyed. A lost wake fails a `Require()`; a task that is left in
// a queue is a leak, which the checker itself finds.
//
// The state that threads share is under one lock, except for the drivers'
// wakers, which have models of their own. There are therefore no mutants here.
// Tested by hand: a remote queue that is not closed fails WakeDuringShutdown; a
// driver that checks the queue before it registers fails AWakeRacesWithAPoll;
// waking drivers without a reference to the set fails
// IsDestroyedWhileItIsWoken.

#include <optional>
#include <utility>

#include "rouse/scheduler/local/local_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/model_util.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;
using task::Event;
using task::Wait;
using PlainInt = model::Cell<int>;

// Polls the set, and notices later wakes.
class Poller {
 public:
  // Returns whether all tasks have ended.
  bool Poll(LocalSet& set) {
    task_.ForgetWakes();
    return task_.Poll(set).IsReady();
  }

  bool WasWoken() const { return task_.woken(); }

 private:
  model::Task task_;
};

MODEL_TEST(LocalSet, AWakeRacesWithAPoll, .spurious_failures = 0) {
  Event event;
  PlainInt uses(0);
  Poller poller;
  LocalSet set;
  set.Spawn(Wait(event, uses)).Detach();
  Thread other([&] { event.Signal(); });
  const bool ended = poller.Poll(set);
  other.Join();
  Require(ended || (poller.WasWoken() && poller.Poll(set)), "a lost wake");
}

// Tokio's wake_during_shutdown: the woken task stayed in the queue.
MODEL_TEST(LocalSet, WakeDuringShutdown, .spurious_failures = 0) {
  Event event;
  PlainInt uses(0);
  Poller poller;
  std::optional<LocalSet> set(std::in_place);
  set->Spawn(Wait(event, uses)).Detach();
  static_cast<void>(poller.Poll(*set));
  Thread other([&] { event.Signal(); });
  set.reset();
  other.Join();
  Require(uses.Read() >= 2);
}

MODEL_TEST(LocalSet, AbortDuringShutdown, .spurious_failures = 0) {
  Event event;
  PlainInt uses(0);
  Poller poller;
  std::optional<LocalSet> set(std::in_place);
  JoinHandle<int> handle = set->Spawn(Wait(event, uses));
  static_cast<void>(poller.Poll(*set));
  Thread other([&] { handle.Abort(); });
  set.reset();
  other.Join();
  Require(handle.IsFinished());
  event.waker.Take().Reset();
}

// The task ends, and with it the set, while its waker is still waking the
// poller of the set.
MODEL_TEST(LocalSet, IsDestroyedWhileItIsWoken, .spurious_failures = 0) {
  Event event;
  PlainInt uses(0);
  Poller poller;
  std::optional<LocalSet> set(std::in_place);
  set->Spawn(Wait(event, uses)).Detach();
  static_cast<void>(poller.Poll(*set));
  Thread other([&] { event.Signal(); });
  if (poller.Poll(*set)) set.reset();
}

MODEL_TEST(LocalSet, TwoThreadsWakeTwoTasks, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Event first;
  Event second;
  PlainInt uses(0);
  Poller poller;
  LocalSet set;
  set.Spawn(Wait(first, uses)).Detach();
  set.Spawn(Wait(second, uses)).Detach();
  static_cast<void>(poller.Poll(set));
  Thread a([&] { first.Signal(); });
  Thread b([&] { second.Signal(); });
  const bool ended = poller.Poll(set);
  a.Join();
  b.Join();
  Require(ended || (poller.WasWoken() && poller.Poll(set)), "a lost wake");
}

// The wake goes to both pollers, one of which has been destroyed.
MODEL_TEST(LocalSet, APollerIsDestroyedWhileATaskIsWoken,
           .mode = model::Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Event event;
  Event never;
  PlainInt uses(0);
  Poller poller;
  LocalSet set;
  set.Spawn(Wait(event, uses)).Detach();
  static_cast<void>(poller.Poll(set));
  Thread other([&] { event.Signal(); });
  {
    auto until = set.RunUntil(Wait(never, uses));
    const Waker waker;
    Context cx(waker);
    static_cast<void>(until.Poll(cx));
  }
  other.Join();
  Require(set.alive_tasks() == 0 || poller.WasWoken(), "a lost wake");
  never.waker.Take().Reset();
}

}  // namespace
}  // namespace rouse
