// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: inner.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: the parts of a `Runtime`, and how a runtime is shut
// down.

#ifndef ROUSE_RUNTIME_INNER_H_
#define ROUSE_RUNTIME_INNER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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
// The options collected by a `Builder`.
struct RuntimeOptions {
  bool multi_thread = false;
  wheel::Options timer = {};
  reactor::Options reactor = {};
  scheduler::Options scheduler = {};
  // Options of the threads for blocking calls. Worker threads have the same
  // options, except for the name.
  scheduler::BlockingOptions blocking = {};
  std::string thread_name = {};
  std::string name = {};  // of the runtime
};

// Deadline
//
// The end of a time limit, in real time.
class Deadline {
 public:
  explicit Deadline(absl::Duration limit)
      : limit_(limit), start_(std::chrono::steady_clock::now()) {}

  // Returns the remaining time; zero or less after the deadline.
  absl::Duration left() const {
    return limit_ - absl::FromChrono(std::chrono::steady_clock::now() - start_);
  }

 private:
  const absl::Duration limit_;
  const std::chrono::steady_clock::time_point start_;
};

// RuntimeInner
//
// The park stack, the scheduler on top of the park stack, and the threads. The
// `Runtime` and each thread that runs a worker share ownership: when no time
// remains to wait for the threads, they keep the object alive.
class RuntimeInner : public std::enable_shared_from_this<RuntimeInner> {
 public:
  RuntimeInner(RuntimeOptions options, reactor::Reactor reactor);
  RuntimeInner(const RuntimeInner&) = delete;
  RuntimeInner& operator=(const RuntimeInner&) = delete;

  const Handle& handle() const { return handle_; }

  // Starts the threads of a multi-thread runtime. Call at most once. If only
  // some threads could be started, those end with `Shutdown()`.
  absl::Status StartThreads();

  // Calls `poll` once at first, and again each time `poll`'s context is woken,
  // until `poll` returns true.
  void BlockOn(absl::FunctionRef<bool(Context&)> poll);

  // Implement the functions of these names of `Runtime`.
  absl::Duration Turn();
  int fd();

  // Ends with a `Panic()` if the shutdown would wait for its own caller.
  void CheckMayShutDown(absl::Duration limit) const;

  // Shuts the runtime down: see `Runtime`. Call at most once. Goes through all
  // phases for which there is time, and rethrows the first exception of a
  // phase. The threads go through the remaining phases.
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
  // Runs worker `index`, which a thread has offered, if no other thread has
  // taken the worker over.
  void RunIfOffered(size_t index);
  // Has another thread run worker `index`, which the calling thread has
  // offered.
  void RunElsewhere(size_t index);
  // Runs all offered workers.
  void RunOffered() noexcept;
  // Steps called by `EndPhases`:
  void FinishScheduler();
  // Ends timers and sockets.
  void ShutdownDrivers();
  void OnThreadsEnded();
  // Returns whether all threads have ended in time. If not, the threads keep
  // running by themselves.
  bool AwaitThreads(const Deadline& deadline);
  void BlockOnCurrentThread(absl::FunctionRef<bool(Context&)> poll);
  // Ends with a `Panic()` that names `call` in a multi-thread runtime.
  void CheckIsCurrentThread(std::string_view call) const;

  const RuntimeOptions options_;
  DriverStack driver_;
  const scheduler::BlockingPool::Owner blocking_;
  const Handle handle_;

  // Parts of a multi-thread runtime:
  std::unique_ptr<scheduler::Watchdog> watchdog_;
  std::vector<Thread> threads_;
  // Threads to run the workers of blocked threads.
  scheduler::BlockingPool::Owner replacement_threads_;
  ReplacementRequests replacement_requests_;
  EndPhases<RuntimeInner> end_{*this};
  FirstException thrown_;  // by the steps that end the runtime
  absl::Notification finished_;
  absl::Notification threads_ended_;

  // Part of a current-thread runtime:
  WorkerHandoff worker_handoff_;
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_INNER_H_
