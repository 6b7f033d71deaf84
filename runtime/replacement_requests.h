// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: replacement_requests.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: which workers a thread is on its way to run, in the
// stead of one that blocks. At most one is on its way to each: where all
// threads are in use, offers that are taken back must not pile up.
//
//   who                          does
//   a thread that blocks         offers its worker (see `Baton`), then calls
//                                Add(), and sends a thread if that is true
//   the thread that is sent      calls Arrive(), which takes the request back
//                                and then has it look at the offer
//
// The invariant is that a worker which is offered has a thread on its way to
// look at it. Who finds a request there has offered before, and the thread that
// the request is for looks after it has taken the request back, under the lock
// in both cases: so it sees the offer.

#ifndef ROUSE_RUNTIME_REPLACEMENT_REQUESTS_H_
#define ROUSE_RUNTIME_REPLACEMENT_REQUESTS_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// ReplacementRequests
//
// Thread-safe. O(1).
class ReplacementRequests {
 public:
  ReplacementRequests() = default;
  ReplacementRequests(const ReplacementRequests&) = delete;
  ReplacementRequests& operator=(const ReplacementRequests&) = delete;

  // Before there is any request.
  void SetWorkers(size_t workers) {
    const ThreadMutexLock lock(&mu_);
    requested_.resize(workers);
  }

  // Requests a thread for `worker`, which has been offered. Whether there was
  // no request: the caller then sends a thread.
  bool Add(size_t worker) { return Set(worker, true); }

  // The thread for `worker` has come: takes the request back, and calls
  // `run_if_offered()`.
  template <class F>
  void Arrive(size_t worker, F run_if_offered) {
    Set(worker, false);
    run_if_offered();
  }

  // None will come for `worker`.
  void Drop(size_t worker) { Set(worker, false); }

 private:
  // Whether it was otherwise before.
  bool Set(size_t worker, bool requested) {
    const ThreadMutexLock lock(&mu_);
    const bool before = requested_[worker];
    requested_[worker] = requested;
    return before != requested;
  }

  ThreadMutex mu_;
  std::vector<bool> requested_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_REPLACEMENT_REQUESTS_H_
