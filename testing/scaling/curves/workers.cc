// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/curves/workers.h"

#include <cstddef>
#include <memory>

#include "rouse/base/thread.h"
#include "rouse/reactor/reactor.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"

namespace rouse::curves {

Workers::Workers(size_t count)
    : stack_(wheel::Options{.shards = count},
             reactor::Reactor::Create().value()),
      scheduler_(*new scheduler::Scheduler(
          std::make_unique<scheduler::DriverRef<Stack>>(stack_),
          // A finite bound, as in a runtime: with an infinite bound, workers
          // keep no tasks private.
          {.workers = count, .long_poll_bound = scheduler::kLongPollBound})) {
  for (size_t i = 0; i < count; ++i) {
    threads_.push_back(
        Thread::Start("worker", [this, i] { RunThread(i); }).value());
  }
}

void Workers::RunThread(size_t index) {
  const scheduler::ScopedDefault current(scheduler_);
  const wheel::ScopedDefault own_shard(stack_.handle(), index);
  scheduler_.worker(index).Run();
  scheduler_.CancelTasks(index);
}

Workers::~Workers() {
  scheduler_.Close();
  for (Thread& thread : threads_) thread.Join();
  scheduler_.Finish();
  stack_.Shutdown();
  scheduler_.Unref();
}

}  // namespace rouse::curves
