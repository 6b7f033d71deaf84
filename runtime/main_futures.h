// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: main_futures.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: the threads that wait in `BlockOn()` for a future of
// their own, while others run the tasks.

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
// Of one runtime. Thread-safe.
class MainFutures {
 public:
  explicit MainFutures(FastRand rand) : rand_(rand) {}
  MainFutures(const MainFutures&) = delete;
  MainFutures& operator=(const MainFutures&) = delete;

  // Calls `poll`, each time that it has woken its context, until it returns
  // true. False: the waiting was given up. `clock`, which `owner` keeps, does
  // not advance by itself from a wake to the end of the poll.
  bool Wait(const std::shared_ptr<const void>& owner, Clock& clock,
            absl::FunctionRef<bool(Context&)> poll);

  // All that wait, and will, give up when they are next pending.
  void GiveUp();

  // A generator for a main future of its own.
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
