// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The last tasks end, and the tracker is closed, while a thread begins or ends
// a wait. The effects of the tasks are plain data: a waiter that is notified of
// the end and does not see these effects has a race.

#include <optional>
#include <utility>

#include "rouse/scheduler/group/task_tracker.h"
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
using PlainInt = model::Cell<int>;

// A wait, and its task.
class Waiting {
 public:
  explicit Waiting(const TaskTracker& tracker) : wait_(tracker.Wait()) {}

  bool Poll() { return task_.Poll(wait_).IsReady(); }

  // Called when all others have done their part.
  void RequireEnd() {
    Require(task_.woken(), "the wake was lost");
    Require(Poll());
  }

 private:
  model::Task task_;
  TaskTrackerWait wait_;
};

// The body of a thread: does something, and ends its task.
auto End(TaskTrackerToken token, PlainInt& done) {
  return [token = std::optional(std::move(token)), &done]() mutable {
    done.Write() = 1;
    token.reset();
  };
}

MODEL_TEST(TaskTracker, TheLastTaskEndsDuringAWait) {
  const TaskTracker tracker;
  PlainInt done(0);
  tracker.Close();
  Thread task(End(tracker.Token(), done));
  Waiting waiting(tracker);
  if (waiting.Poll()) {
    Require(done.Read() == 1);
  } else {
    task.Join();
    waiting.RequireEnd();
  }
}

MODEL_TEST(TaskTracker, TwoTasksEndDuringAWait, .mode = model::Mode::kBounded,
           .preemption_bound = 3) {
  const TaskTracker tracker;
  PlainInt first(0);
  PlainInt second(0);
  tracker.Close();
  Thread a(End(tracker.Token(), first));
  Thread b(End(tracker.Token(), second));
  Waiting waiting(tracker);
  if (waiting.Poll()) {
    Require(first.Read() + second.Read() == 2);
  } else {
    a.Join();
    b.Join();
    waiting.RequireEnd();
  }
}

// The effects of one task reach the waiter through the lock that the other
// task, which ends last, takes.
MODEL_TEST(TaskTracker, TheLastOfTwoTasksPublishesWhatBothDid,
           .mode = model::Mode::kBounded, .preemption_bound = 3) {
  const TaskTracker tracker;
  PlainInt first(0);
  std::optional<TaskTrackerToken> token = tracker.Token();
  tracker.Close();
  Waiting waiting(tracker);
  Require(!waiting.Poll());
  Thread a(End(tracker.Token(), first));
  Thread b([&] {
    if (waiting.Poll()) Require(first.Read() == 1);
  });
  token.reset();
}

MODEL_TEST(TaskTracker, IsClosedWhileTheLastTaskEnds) {
  const TaskTracker tracker;
  Waiting waiting(tracker);
  std::optional<TaskTrackerToken> token = tracker.Token();
  Require(!waiting.Poll());
  Thread closing([&] { tracker.Close(); });
  token.reset();
  closing.Join();
  waiting.RequireEnd();
}

// Neither the closing thread nor the waiter acquires from the task, except
// through the tracker.
MODEL_TEST(TaskTracker, ClosingPublishesWhatTheTaskDid) {
  const TaskTracker tracker;
  PlainInt done(0);
  Waiting waiting(tracker);
  Require(!waiting.Poll());
  Thread task(End(tracker.Token(), done));
  Thread closing([&] { tracker.Close(); });
  if (waiting.Poll()) Require(done.Read() == 1);
}

MODEL_TEST(TaskTracker, AWaitIsCancelledWhileTheLastTaskEnds) {
  const Waker waker = Waker::FromCallable([] {});
  std::optional<TaskTracker> tracker(std::in_place);
  tracker->Close();
  Thread task(
      [token = std::optional(tracker->Token())]() mutable { token.reset(); });
  std::optional<TaskTrackerWait> wait(tracker->Wait());
  {
    Context cx(waker);
    static_cast<void>(wait->Poll(cx));
  }
  wait.reset();
  // The last reference may belong to the task, which is searching for waiters.
  tracker.reset();
}

MODEL_TEST(TaskTracker, TokensAreCopiedWhileOthersAreDestroyed) {
  const TaskTracker tracker;
  Thread other([token = tracker.Token()] {
    const std::optional<TaskTrackerToken> copy(token);
    Require(copy.has_value());
  });
  {
    const TaskTrackerToken token = tracker.Token();
  }
  other.Join();
  Require(tracker.empty());
}

// The waiter's own task may come before this end or after it.
MODEL_TEST(TaskTracker, ANewWaiterWaitsForItsOwnTask) {
  const TaskTracker tracker;
  PlainInt done(0);
  tracker.Close();
  Thread task(End(tracker.Token(), done));
  std::optional<TaskTrackerToken> own(tracker.Token());
  Waiting waiting(tracker);
  Require(!waiting.Poll());
  task.Join();
  Require(!waiting.Poll(), "told of a moment that was before");
  own.reset();
  waiting.RequireEnd();
}

// The end comes before the first poll, or is over by then, or comes later.
MODEL_TEST(TaskTracker, AnEmptyMomentBeforeTheFirstPollIsSeen) {
  const TaskTracker tracker;
  PlainInt done(0);
  std::optional<TaskTrackerToken> token = tracker.Token();
  tracker.Close();
  Waiting waiting(tracker);
  Thread task([&] {
    done.Write() = 1;
    token.reset();
    tracker.Reopen();
  });
  if (!waiting.Poll()) {
    task.Join();
    waiting.RequireEnd();
    Require(done.Read() == 1);
  }
}

MODEL_TEST(TaskTracker, IsReopenedWhileTheLastTaskEnds) {
  const TaskTracker tracker;
  PlainInt done(0);
  tracker.Close();
  Thread task(End(tracker.Token(), done));
  Require(tracker.Reopen());
  Require(tracker.Close());
  Waiting waiting(tracker);
  if (waiting.Poll()) {
    Require(done.Read() == 1);
  } else {
    task.Join();
    waiting.RequireEnd();
  }
}

MODEL_MUTANTS(TaskTracker, "scheduler/group/task_tracker.");

}  // namespace
}  // namespace rouse
