// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A fork and a task share a child. The child is plain data, which each poll,
// each trace and the end of the fork access: two threads that use the child at
// once, or one after the other without order, have a race.

#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/scheduler/fork/given_child.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;

// A child that ends at its poll `polls`.
class Child {
 public:
  explicit Child(int polls) : left_(polls) {}

  bool Poll() { return --left_.Write() == 0; }
  int left() const { return left_.Read(); }

  ForkChildRef ref() {
    return {this,
            [](void* child, Context&) {
              return static_cast<Child*>(child)->Poll();
            },
            [](const void* child, AwaitTrace&) {
              static_cast<void>(static_cast<const Child*>(child)->left());
            }};
  }

 private:
  model::Cell<int> left_;
};

// The task of a child. Declared before the fork, which can keep the task's
// waker: in a scheduler, a waker keeps its task.
class TaskSide {
 public:
  void Take(GivenChild* given) { given_ = given; }

  // Polls once. Returns whether the task has nothing left to do.
  bool Poll() {
    struct Future {
      PollResult<bool> Poll(Context& cx) { return given->Poll(cx); }
      GivenChild* given;
    };
    Future future{given_};
    return *task_.Poll(future);
  }
  void AwaitWake() { task_.AwaitWake(); }
  void End() { given_->Unref(); }
  // Polls the child, which ends, and ends the task.
  void PollToEnd() {
    Require(Poll());
    End();
  }
  // Ends the task without its child, as a cancellation does.
  void Cancel() {
    given_->Abandon();
    End();
  }

 private:
  model::Task task_;
  GivenChild* given_ = nullptr;
};

// The fork, with the child in its memory.
class ForkSide {
 public:
  ForkSide(int polls, TaskSide& task)
      : child_(std::in_place, polls), given(new GivenChild(child_->ref())) {
    task.Take(given);
  }
  // Waits until the child is the fork's, and returns whether it has ended.
  bool Await() {
    for (;;) {
      const Waker waker = task_.waker();
      switch (given->Check(waker)) {
        case GivenChild::Progress::kRuns:
          break;
        case GivenChild::Progress::kEnded:
          return true;
        case GivenChild::Progress::kReturned:
          return false;
      }
      task_.AwaitWake();
    }
  }

  // Polls the child, which is the fork's, to its end.
  void Finish() {
    while (!child_->Poll()) {
    }
  }

  // Ends the fork's life before the end of the task's.
  void Destroy() {
    given->Reclaim([] {});
    static_cast<void>(child_->left());
    child_.reset();
    given->Unref();
  }

 private:
  model::Task task_;
  std::optional<Child> child_;

 public:
  GivenChild* const given;
};

MODEL_TEST(GivenChild, TheForkWaitsForTheEnd) {
  TaskSide task;
  ForkSide fork(1, task);
  Thread thread([&task] { task.PollToEnd(); });
  Require(fork.Await());
  fork.Destroy();
}

MODEL_TEST(GivenChild, TheForkTakesBackWhatHasNotBegun) {
  TaskSide task;
  ForkSide fork(1, task);
  Thread thread([&task] { task.PollToEnd(); });
  if (fork.given->TakeBack()) {
    fork.Finish();
  } else {
    Require(fork.Await());
  }
  fork.Destroy();
}

MODEL_TEST(GivenChild, TheForkIsDestroyedWhileTheTaskPolls) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&task] {
    if (!task.Poll()) {
      task.AwaitWake();
      Require(task.Poll());
    }
    task.End();
  });
  fork.Destroy();
}

// The task is cancelled, before a poll or between two.
MODEL_TEST(GivenChild, AnEndingTaskReturnsTheChild) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&task] {
    static_cast<void>(task.Poll());
    task.Cancel();
  });
  if (!fork.given->TakeBack()) Require(!fork.Await());
  fork.Finish();
  fork.Destroy();
}

MODEL_TEST(GivenChild, TheForkIsDestroyedWhileTheChildEnds) {
  TaskSide task;
  ForkSide fork(1, task);
  Thread thread([&task] { task.PollToEnd(); });
  fork.Destroy();
}

// The task has not begun, or waits, or has been cancelled.
MODEL_TEST(GivenChild, TheForkIsDestroyedWhileATaskThatHasPolledEnds) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&task] {
    static_cast<void>(task.Poll());
    task.Cancel();
  });
  fork.Destroy();
}

MODEL_TEST(GivenChild, TheForkIsDestroyedWhileTheTaskEnds) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&task] { task.Cancel(); });
  fork.Destroy();
}

MODEL_TEST(GivenChild, ATaskThatHasNotBegunEndsWhileItsChildIsTakenBack) {
  TaskSide task;
  ForkSide fork(1, task);
  Thread thread([&task] { task.Cancel(); });
  Require(fork.given->TakeBack() || !fork.Await());
  fork.Finish();
  fork.Destroy();
}

MODEL_TEST(GivenChild, TheForkIsDestroyedWhileAThreadTraces) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&fork] {
    AwaitTrace trace;
    fork.given->Trace(trace);
  });
  fork.Destroy();
  thread.Join();
  task.PollToEnd();
}

MODEL_TEST(GivenChild, TheForkTakesBackWhileAThreadTraces) {
  TaskSide task;
  ForkSide fork(1, task);
  Thread thread([&fork] {
    AwaitTrace trace;
    fork.given->Trace(trace);
  });
  if (fork.given->TakeBack()) fork.Finish();
  thread.Join();
  task.PollToEnd();
  fork.Destroy();
}

// A trace leaves the child as it was.
MODEL_TEST(GivenChild, ATraceComesBetweenTwoPolls) {
  TaskSide task;
  ForkSide fork(2, task);
  Thread thread([&task, given = fork.given] {
    Require(!task.Poll());
    AwaitTrace trace;
    given->Trace(trace);
    Require(task.Poll());
    given->Trace(trace);
    task.End();
  });
  Require(fork.Await());
  fork.Destroy();
}

MODEL_MUTANTS(GivenChild, "scheduler/fork/given_child.");

}  // namespace
}  // namespace rouse::internal
