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

#include <chrono>
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
#include "rouse/base/first_exception.h"
#include "rouse/base/thread.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/end_phases.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/main_futures.h"
#include "rouse/runtime/replacement_requests.h"
#include "rouse/runtime/worker_handoff.h"
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
  reactor::Options reactor = {};
  scheduler::Options scheduler = {};
  // Of the calls that block. The threads that run tasks are like these threads,
  // but for their name.
  scheduler::BlockingOptions blocking = {};
  std::string thread_name = {};
  std::string name = {};  // of the runtime
};

// Deadline
//
// When a time that was given is over, in real time.
class Deadline {
 public:
  explicit Deadline(absl::Duration limit)
      : limit_(limit), start_(std::chrono::steady_clock::now()) {}

  // Not above zero when it is over.
  absl::Duration left() const {
    return limit_ - absl::FromChrono(std::chrono::steady_clock::now() - start_);
  }

 private:
  const absl::Duration limit_;
  const std::chrono::steady_clock::time_point start_;
};

// RuntimeInner
//
// The park stack, the scheduler on top of it, and the threads. It belongs to
// the `Runtime` and to each thread that runs a worker, so that it can be left
// to them when there is no more time to wait.
class RuntimeInner : public std::enable_shared_from_this<RuntimeInner> {
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
  void CheckMayShutDown(absl::Duration limit) const;

  // See `Runtime`. To be called once. Goes through all phases for which there
  // is time, and throws what the first one that did has thrown. The threads go
  // through the rest.
  bool Shutdown(absl::Duration limit);

 private:
  class ReplacementThread;
  friend class EndPhases<RuntimeInner>;
  using DriverStack = wheel::Driver<reactor::Reactor>;

  scheduler::Scheduler& scheduler() { return *handle_.shared_->scheduler; }

  Handle MakeHandle();
  scheduler::Options WithCallbacks(scheduler::Options options,
                                   std::shared_ptr<MainFutures> main_futures);
  void RunThread(size_t index);
  void RunWorker(size_t index);
  // Runs a worker that a thread has offered, if nobody has taken it over.
  void RunIfOffered(size_t index);
  // Has another thread do so.
  void RunElsewhere(size_t index);
  // Runs all workers that are offered.
  void RunOffered() noexcept;
  // What `EndPhases` calls:
  void FinishScheduler();
  // Ends timers and sockets.
  void ShutdownDrivers();
  void OnThreadsEnded();
  // Whether all have ended in time; else they go on by themselves.
  bool AwaitThreads(const Deadline& deadline);
  void BlockOnCurrentThread(absl::FunctionRef<bool(Context&)> poll);

  const RuntimeOptions options_;
  DriverStack driver_;
  const scheduler::BlockingPool::Owner blocking_;
  const Handle handle_;

  // Of a multi-thread runtime:
  std::unique_ptr<scheduler::Watchdog> watchdog_;
  std::vector<Thread> threads_;
  // For workers whose threads block.
  scheduler::BlockingPool::Owner replacement_threads_;
  ReplacementRequests replacement_requests_;
  EndPhases<RuntimeInner> end_{*this};
  FirstException thrown_;  // when all of this ended
  absl::Notification finished_;
  absl::Notification threads_ended_;

  // Of a current-thread runtime:
  WorkerHandoff worker_handoff_;
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_INNER_H_
