// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: worker_handoff.h
// -----------------------------------------------------------------------------
//
// For runtime/ itself: who runs the tasks of a current-thread runtime.

#ifndef ROUSE_RUNTIME_WORKER_HANDOFF_H_
#define ROUSE_RUNTIME_WORKER_HANDOFF_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::internal {

// WorkerHandoff
//
// The threads that are in `BlockOn()` of a current-thread runtime: one of them
// has its worker, and hands it on when it leaves.
class WorkerHandoff {
 public:
  // A thread that wants the worker, on its stack.
  struct Candidate : IntrusiveListNode<> {
    ThreadParker parker;
    const ThreadParker::Unparker unparker = parker.unparker();
  };

  // Takes the worker or, if another thread has it, sees to it that `candidate`
  // is unparked when there is another chance.
  bool TryTake(Candidate& candidate) {
    const absl::MutexLock lock(&mu_);
    candidate.Unlink();
    if (!taken_) return taken_ = true;
    waiting_.PushBack(&candidate);
    return false;
  }

  // `candidate` has its result without the worker.
  void Leave(Candidate& candidate) {
    const absl::MutexLock lock(&mu_);
    if (candidate.IsLinked()) {
      candidate.Unlink();
    } else if (!taken_) {
      UnparkNext();  // the chance was given to it, who has no use for it
    }
  }

  void GiveBack() {
    const absl::MutexLock lock(&mu_);
    taken_ = false;
    UnparkNext();
  }

  // Waits for the worker to be back, and keeps it.
  void TakeForGood() {
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(+[](bool* taken) { return !*taken; }, &taken_));
    taken_ = true;
  }

 private:
  void UnparkNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Under the lock, so that the candidate is still there.
    if (Candidate* next = waiting_.PopFront()) next->unparker.Unpark();
  }

  absl::Mutex mu_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Candidate> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_RUNTIME_WORKER_HANDOFF_H_
