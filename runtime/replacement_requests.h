// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: replacement_requests.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: which workers have a replacement thread on the way, to
// run the worker in place of a blocked thread. At most one thread is on the way
// to each worker: when all threads are in use, withdrawn offers must not pile
// up.
//
//   thread                       steps
//   a thread that blocks         Offers its worker (Worker::Offer()), then
//                                calls Add(), and sends a thread if Add()
//                                returns true.
//   the thread that is sent      Calls Arrive(), which takes the request back
//                                and then has the thread check the offer.
//
// The invariant is that every offered worker has a thread on the way to check
// the offer. A thread that finds an existing request has made its offer before,
// and the requested thread checks the offer after taking the request back. The
// lock orders the find before the take-back, so the requested thread sees the
// offer.

#ifndef ROUSE_RUNTIME_REPLACEMENT_REQUESTS_H_
#define ROUSE_RUNTIME_REPLACEMENT_REQUESTS_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// ReplacementRequests
//
// Thread-safe. All functions are O(1).
class ReplacementRequests {
 public:
  ReplacementRequests() = default;
  ReplacementRequests(const ReplacementRequests&) = delete;
  ReplacementRequests& operator=(const ReplacementRequests&) = delete;

  // Sets the number of workers. Call before the first request.
  void SetWorkers(size_t workers) {
    const ThreadMutexLock lock(&mu_);
    requested_.resize(workers);
  }

  // Requests a thread for `worker`, which has been offered. Returns whether the
  // request is new: the caller must then send a thread.
  bool Add(size_t worker) { return Set(worker, true); }

  // Takes the request for `worker` back, because the requested thread has
  // arrived, and calls `run_if_offered()`.
  template <class F>
  void Arrive(size_t worker, F run_if_offered) {
    Set(worker, false);
    run_if_offered();
  }

  // Takes the request for `worker` back, because no thread will arrive.
  void Drop(size_t worker) { Set(worker, false); }

 private:
  // Returns whether the value has changed.
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
