// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_handoff.h
// -----------------------------------------------------------------------------
//
// Internal to runtime/: selects the thread that runs the tasks of a
// current-thread runtime.

#ifndef ROUSE_RUNTIME_WORKER_HANDOFF_H_
#define ROUSE_RUNTIME_WORKER_HANDOFF_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::internal {

// WorkerHandoff
//
// The threads in `BlockOn()` of a current-thread runtime. One thread has the
// runtime's worker, and hands the worker on when leaving. A thread that calls
// `Turn()` keeps the worker for itself.
class WorkerHandoff {
 public:
  // A thread that wants the worker. Lives on the thread's stack.
  struct Candidate : IntrusiveListNode<> {
    ThreadParker parker;
    const ThreadParker::Unparker unparker = parker.unparker();
  };

  // Takes the worker and returns true. If another thread has the worker, or has
  // bound it, returns false and makes sure that `candidate` is unparked when
  // the worker may be free again.
  bool TryTake(Candidate& candidate) {
    const absl::MutexLock lock(&mu_);
    candidate.Unlink();
    if (!taken_ && IsForCaller()) return taken_ = true;
    waiting_.PushBack(&candidate);
    return false;
  }

  // Takes the worker and returns true, and binds the worker to the calling
  // thread: from now on, no other thread can take the worker, except
  // permanently. Returns false if another thread has the worker, or has bound
  // it.
  bool TryBind() {
    const absl::MutexLock lock(&mu_);
    if (taken_ || !IsForCaller()) return false;
    bound_to_ = std::this_thread::get_id();
    return taken_ = true;
  }

  // Removes `candidate`, whose future has completed without the worker.
  void Leave(Candidate& candidate) {
    const absl::MutexLock lock(&mu_);
    if (candidate.IsLinked()) {
      candidate.Unlink();
    } else if (!taken_) {
      UnparkNext();  // this chance is of no use to `candidate`
    }
  }

  // Gives the worker back. Returns whether the worker is bound to a thread.
  bool GiveBack() {
    const absl::MutexLock lock(&mu_);
    taken_ = false;
    UnparkNext();
    return bound_to_ != std::thread::id();
  }

  // Waits until the worker is given back, and keeps the worker permanently.
  void TakeForGood() {
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(+[](bool* taken) { return !*taken; }, &taken_));
    taken_ = true;
  }

 private:
  bool IsForCaller() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return bound_to_ == std::thread::id() ||
           bound_to_ == std::this_thread::get_id();
  }

  void UnparkNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // The other threads cannot take the worker.
    if (bound_to_ != std::thread::id()) return;
    // Under the lock, so that the candidate still exists.
    if (Candidate* next = waiting_.PopFront()) next->unparker.Unpark();
  }

  absl::Mutex mu_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  // The only thread that can take the worker; no thread if any thread can.
  std::thread::id bound_to_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<Candidate> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_WORKER_HANDOFF_H_
