// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: run_queues_model_util.h
// -----------------------------------------------------------------------------
//
// Workers for the models of `RunQueues`.

#ifndef ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_MODEL_UTIL_H_
#define ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_MODEL_UTIL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {

// A task whose `runs` is written before the push and during the run. A second
// run, or a run not ordered after the push, is a race or a failure.
struct Task {
  Cell<int> runs{0};
  Task* next_in_queue = nullptr;
  Task* previous_in_queue = nullptr;
  bool IsNew() const { return false; }
};

inline Task* Written(Task& task) {
  task.runs.Write() = 0;
  return &task;
}

// The workers of a scheduler, reduced to their use of the queues. The queues
// are closed when `total` tasks have run.
class World {
 public:
  using Queues = RunQueues<Task, World, 2>;

  World(size_t workers, int total)
      : queues(*this, workers), parkers(workers), left(total) {}

  // Functions of `Host`:
  void UnparkWorker(size_t worker) { parkers[worker].unparker().Unpark(); }
  // Ends the model as a failure.
  static void Discard(Task*) { std::abort(); }
  struct Adder {
    static bool IsClosed() { return false; }
    static void Add(Task*) {}
  };
  static Adder AdderFor(size_t) { return {}; }
  // If true, polls seem long to searching workers.
  bool patience_ends = false;
  static uint64_t PollsBegun(size_t) { return 0; }
  template <class Ready>
  bool AwaitBriefly(Ready ready) const {
    return !patience_ends || ready();
  }

  void Run(Task* task) {
    ++task->runs.Write();
    if (left.fetch_sub(1, std::memory_order_relaxed) == 1) queues.Close();
  }

  // Does what a worker does until the queues are closed.
  void Work(size_t worker) {
    FastRand rand(0);
    while (!queues.IsClosed()) Turn(worker, rand);
  }
  void Turn(size_t worker, FastRand& rand) {
    ++turns[worker].Write();
    Task* task = queues.Of(worker).PopNext();
    if (task == nullptr) task = queues.Of(worker).Pop();
    if (task == nullptr) task = queues.Of(worker).Steal(rand);
    if (task != nullptr) {
      queues.Of(worker).EndSearching();
      queues.Of(worker).Share(0);
      Run(task);
    } else if (queues.Of(worker).Sleep()) {
      parkers[worker].Park();
      queues.Of(worker).Awake();
    }
  }

  void RequireAllHaveRun(int count) {
    for (int i = 0; i < count; ++i) {
      if (tasks[i].runs.Read() != 1) std::abort();
    }
  }

  Task tasks[4];
  // One cell for each worker: two threads that run a worker at once are a race.
  Cell<int> turns[5]{Cell<int>(0), Cell<int>(0), Cell<int>(0), Cell<int>(0),
                     Cell<int>(0)};
  Queues queues;
  std::vector<ThreadParker> parkers;
  Atomic<int> left;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_QUEUE_RUN_QUEUES_MODEL_UTIL_H_
