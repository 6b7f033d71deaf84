// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: inner.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: what a `Runtime` consists of, and how it is shut down.

#ifndef ROUSE_RUNTIME_INNER_H_
#define ROUSE_RUNTIME_INNER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "rouse/base/thread.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/main_futures.h"
#include "rouse/runtime/worker_loan.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/options.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/watchdog.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// RuntimeOptions
//
// What a `Builder` has collected.
struct RuntimeOptions {
  bool multi_thread = false;
  wheel::Options timer = {};
  scheduler::Options scheduler = {};
  // Of the calls that block. The threads that run tasks are like these threads,
  // but for their name.
  scheduler::BlockingOptions blocking = {};
  std::string thread_name = {};
};

// RuntimeInner
//
// The park stack, the scheduler on top of it, and the threads.
class RuntimeInner {
 public:
  RuntimeInner(RuntimeOptions options, reactor::Reactor reactor);
  RuntimeInner(const RuntimeInner&) = delete;
  RuntimeInner& operator=(const RuntimeInner&) = delete;

  const Handle& handle() const { return handle_; }

  // Of a multi-thread runtime: to be called once. Those that did start end with
  // `Shutdown()`.
  absl::Status StartThreads();

  // Calls `poll`, each time that it has woken its context, until it returns
  // true.
  void BlockOn(absl::FunctionRef<bool(Context&)> poll);

  // A `Panic()` where shutting down would wait for itself.
  void CheckMayShutDown() const;

  // See `Runtime`. To be called once. Goes through all phases, and throws what
  // the first one that did has thrown.
  bool Shutdown(absl::Duration limit);

 private:
  using DriverStack = wheel::Driver<reactor::Reactor>;

  scheduler::Scheduler& scheduler() { return *handle_.shared_->scheduler; }

  Handle MakeHandle();
  scheduler::Options WithCallbacks(scheduler::Options options,
                                   std::shared_ptr<MainFutures> main_futures);
  void RunWorker(size_t index);
  // Has a worker run that its thread has offered.
  void RunElsewhere(size_t index);
  // Runs those that have been offered and that nobody has taken over.
  void RunOffered() noexcept;
  // So many workers have ended.
  void EndWorkers(size_t count);
  void BlockOnCurrentThread(absl::FunctionRef<bool(Context&)> poll);

  const RuntimeOptions options_;
  DriverStack driver_;
  const scheduler::BlockingPool::Owner blocking_;
  const Handle handle_;

  // Of a multi-thread runtime:
  std::unique_ptr<scheduler::Watchdog> watchdog_;
  std::vector<Thread> threads_;
  // For workers whose threads block.
  scheduler::BlockingPool::Owner stand_ins_;
  std::atomic<size_t> live_workers_{0};
  absl::Notification finished_;  // by the last of them

  // Of a current-thread runtime:
  WorkerLoan worker_loan_;
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_INNER_H_
