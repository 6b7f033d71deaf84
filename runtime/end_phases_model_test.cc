// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models the threads of a runtime that end concurrently. A step that is taken
// twice, or before the events for which it waits, is a race or a failure here.

#include <cstddef>

#include "rouse/base/cell.h"
#include "rouse/runtime/end_phases.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;

// A runtime of two workers. Each step reads the data of the events that must
// come before it.
class World {
 public:
  World() { phases.Begin(2); }

  // The last step of a worker, on whichever thread runs the worker.
  void EndWorker(size_t worker) {
    ++workers_[worker].Write();
    phases.EndWorkers(1);
  }
  void EndThread(size_t thread) {
    ++threads_[thread].Write();
    phases.EndThreads(1);
  }
  void Run(size_t worker) {
    EndWorker(worker);
    EndThread(worker);
  }
  void Shutdown() {
    ++shutdowns_.Write();
    phases.EndDrivers();
  }

  // Functions that `EndPhases` calls:
  void FinishScheduler() {
    Require(workers_[0].Read() + workers_[1].Read() == workers);
    ++finished_.Write();
  }
  void ShutdownDrivers() {
    Require(finished_.Read() == 1);
    Require(shutdowns_.Read() == 1);
    ++drivers_.Write();
  }
  void OnThreadsEnded() {
    Require(threads_[0].Read() + threads_[1].Read() == threads);
    ++notified_.Write();
  }

  void RequireOver() {
    Require(finished_.Read() == 1);
    Require(drivers_.Read() == 1);
    Require(notified_.Read() == 1);
  }

  EndPhases<World> phases{*this};
  // Numbers of workers and of threads that have run.
  int workers = 2;
  int threads = 2;

 private:
  Cell<int> workers_[2]{Cell<int>(0), Cell<int>(0)};
  Cell<int> threads_[2]{Cell<int>(0), Cell<int>(0)};
  Cell<int> shutdowns_{0};
  Cell<int> finished_{0};
  Cell<int> drivers_{0};
  Cell<int> notified_{0};
};

MODEL_TEST(EndPhases, TwoWorkersEndBesideTheShutdown) {
  World world;
  Thread one([&] { world.Run(0); });
  Thread two([&] { world.Run(1); });
  world.Shutdown();
  one.Join();
  two.Join();
  world.RequireOver();
}

// Models the end after an exception: the workers may have ended before the
// shutdown.
MODEL_TEST(EndPhases, TheWorkersCanEndFirst) {
  World world;
  Thread one([&] { world.Run(0); });
  world.Run(1);
  world.Shutdown();
  one.Join();
  world.RequireOver();
}

// A thread blocks. Another thread, which was not started for a worker, ends the
// blocked thread's worker.
MODEL_TEST(EndPhases, AReplacementEndsAWorker) {
  World world;
  Thread replacement([&] { world.EndWorker(0); });
  Thread blocked([&] { world.EndThread(0); });
  world.Run(1);
  world.Shutdown();
  replacement.Join();
  blocked.Join();
  world.RequireOver();
}

// The second thread could not be started: the thread and its worker count as
// ended, while the first thread already runs.
MODEL_TEST(EndPhases, AThreadDoesNotStart) {
  World world;
  world.workers = 1;
  world.threads = 1;
  Thread one([&] { world.Run(0); });
  world.phases.EndWorkers(1);
  world.phases.EndThreads(1);
  world.Shutdown();
  one.Join();
  world.RequireOver();
}

// No thread could be started: the thread that shuts down ends the workers.
MODEL_TEST(EndPhases, NoThreadStarts) {
  World world;
  world.workers = 0;
  world.threads = 0;
  world.phases.EndThreads(2);
  world.phases.EndWorkers(2);
  world.Shutdown();
  world.RequireOver();
}

MODEL_MUTANTS(EndPhases, "runtime/end_phases.h");

}  // namespace
}  // namespace rouse::internal
