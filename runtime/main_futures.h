// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_futures.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: the threads in `BlockOn()` that wait for a main future
// while other threads run the tasks.

#ifndef ROUSE_RUNTIME_MAIN_FUTURES_H_
#define ROUSE_RUNTIME_MAIN_FUTURES_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// MainFutures
//
// The main futures of a runtime. Thread-safe.
class MainFutures {
 public:
  explicit MainFutures(FastRand rand) : rand_(rand) {}
  MainFutures(const MainFutures&) = delete;
  MainFutures& operator=(const MainFutures&) = delete;

  // Calls `poll` once at first, and again each time `poll`'s context is woken,
  // until `poll` returns true. Returns false if the wait was given up. `clock`,
  // which `owner` keeps alive, does not auto-advance from a wake to the end of
  // the poll.
  bool Wait(const std::shared_ptr<const void>& owner, Clock& clock,
            absl::FunctionRef<bool(Context&)> poll);

  // Makes all present and future calls of `Wait()` give up at the next poll
  // that returns false.
  void GiveUp();

  // Returns a separate random generator for a main future.
  FastRand SplitRand();

 private:
  struct Waiting;

  absl::Mutex mu_;
  FastRand rand_ ABSL_GUARDED_BY(mu_);
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_MAIN_FUTURES_H_
