// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: workers.h
// -----------------------------------------------------------------------------
//
// A scheduler with its drivers and threads: what `Runtime` is made of, without
// what the simulator has no use for (signals, blocking calls, a watchdog).

#ifndef ROUSE_TESTING_SCALING_CURVES_WORKERS_H_
#define ROUSE_TESTING_SCALING_CURVES_WORKERS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <vector>

#include "rouse/base/thread.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/timer/wheel/driver.h"

namespace rouse::curves {

// Workers
//
// Runs until destroyed. The constructor's thread spawns with `scheduler()`.
class Workers {
 public:
  explicit Workers(size_t count);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  scheduler::Scheduler& scheduler() { return scheduler_; }
  size_t count() const { return scheduler_.worker_count(); }
  reactor::Handle reactor() { return stack_.park().handle(); }

 private:
  using Stack = wheel::Driver<reactor::Reactor>;

  void RunThread(size_t index);

  Stack stack_;
  scheduler::Scheduler& scheduler_;
  std::vector<Thread> threads_;
};

}  // namespace rouse::curves

#endif  // ROUSE_TESTING_SCALING_CURVES_WORKERS_H_
