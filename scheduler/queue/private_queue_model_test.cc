// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "rouse/base/cell.h"
#include "rouse/scheduler/queue/private_queue.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Written before the push and at the removal. A second removal, or one not
// ordered after the push, is a race or a failure.
struct Task {
  bool IsNew() const { return is_new; }
  void Take() { ++taken.Write(); }

  Cell<int> taken{0};
  bool is_new = false;
  Task* next_in_queue = nullptr;
  Task* previous_in_queue = nullptr;
};

Task* Written(Task& task) {
  task.taken.Write() = 0;
  return &task;
}

void Rescue(PrivateQueue<Task>& queue) {
  queue.Rescue([](RunQueue<Task>& batch, size_t count) {
    for (; count > 0; --count) {
      Task* const task = batch.Pop();
      Require(task != nullptr);
      task->Take();
    }
    Require(batch.Pop() == nullptr);
  });
}

// The owner is about to run the task that the watchdog wants to give to others.
MODEL_TEST(PrivateQueue, TheLifoSlotIsTakenOnce) {
  Task task;
  PrivateQueue<Task> queue;
  queue.PushNext(Written(task));
  Thread watchdog([&] { Rescue(queue); });
  if (Task* const next = queue.PopNext()) next->Take();
  watchdog.Join();
  Require(task.taken.Read() == 1);
  Require(queue.Size() == 0);
}

// The owner comes out of its long poll and continues, with tasks of each kind.
MODEL_TEST(PrivateQueue, EachTaskIsTakenOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 3) {
  Task tasks[3];
  tasks[1].is_new = true;
  PrivateQueue<Task> queue;
  queue.Push(Written(tasks[0]));
  Thread watchdog([&] { Rescue(queue); });
  queue.Push(Written(tasks[1]));
  queue.PushNext(Written(tasks[2]));
  if (Task* const task = queue.PopNext()) task->Take();
  // If the lock does not lock, a list may have no end.
  for (int i = 0; i < 3; ++i) {
    if (Task* const task = queue.Pop()) task->Take();
  }
  watchdog.Join();
  for (Task& task : tasks) Require(task.taken.Read() == 1);
  Require(queue.Size() == 0);
}

// The owner gives tasks to others while the watchdog takes them.
MODEL_TEST(PrivateQueue, SharingAndARescueExcludeEachOther,
           .mode = model::Mode::kBounded, .preemption_bound = 3) {
  Task tasks[2];
  tasks[1].is_new = true;
  PrivateQueue<Task> queue;
  for (Task& task : tasks) queue.Push(Written(task));
  Thread watchdog([&] { Rescue(queue); });
  RunQueue<Task> batch;
  size_t count = queue.TakeForOthers(batch, 2, false);
  for (; count > 0; --count) {
    Task* const task = batch.Pop();
    Require(task != nullptr);
    task->Take();
  }
  watchdog.Join();
  for (Task& task : tasks) Require(task.taken.Read() == 1);
}

// The private queue orders nothing itself.
MODEL_MUTANTS(PrivateQueue, "base/lock/biased_lock",
              "SlowLockAsOwner at biased_lock.cc:21: store skipped: killed by "
              "biased_lock_model_test",
              "biased_lock.cc:41: killed by biased_lock_model_test, or listed "
              "there",
              "biased_lock.cc:42: store skipped: killed by "
              "biased_lock_model_test, or listed there");

}  // namespace
}  // namespace rouse::scheduler
