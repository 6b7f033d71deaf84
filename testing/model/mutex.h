// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `absl::Mutex` and `absl::CondVar` for a model. Code under test uses
// `rouse::ThreadMutex` and similar names (base/thread_mutex.h).

#ifndef ROUSE_TESTING_MODEL_MUTEX_H_
#define ROUSE_TESTING_MODEL_MUTEX_H_

#include <climits>
#include <type_traits>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "rouse/testing/model/execution.h"

namespace rouse::model {

// Mutex
//
// A mutex that is not recursive. Outside a model it does nothing.
class ABSL_LOCKABLE Mutex {
 public:
  constexpr explicit Mutex(Site site = Site::current()) {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->Construct(handle_, this, 0, "mutex", site);
      }
    }
  }
  constexpr explicit Mutex(absl::ConstInitType) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() {
    if (Execution* execution = Execution::current()) {
      execution->Destroy(handle_, Site::current());
    }
  }

  // Locks the mutex. The calling thread must not have the lock.
  void Lock(Site site = Site::current()) ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (Execution* execution = Execution::current()) {
      execution->Lock(handle_, this, site);
    }
  }
  // Like Abseil's `TryLock()`, can fail for no reason
  // (Options::spurious_failures).
  bool TryLock(Site site = Site::current())
      ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    Execution* execution = Execution::current();
    return execution == nullptr || execution->TryLock(handle_, this, site);
  }
  void Unlock(Site site = Site::current()) ABSL_UNLOCK_FUNCTION() {
    if (Execution* execution = Execution::current()) {
      execution->Unlock(handle_, this, site);
    }
  }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {
    Execution* execution = Execution::current();
    if (execution != nullptr && !execution->Holds(handle_)) {
      execution->Fail("a thread does not hold a mutex that it must hold");
    }
  }

 private:
  friend class CondVar;

  ObjectHandle handle_;
};

// MutexLock
//
// Holds the lock of a mutex for as long as the object lives.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex, Site site = Site::current())
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(*mutex), site_(site) {
    mutex_.Lock(site);
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(site_); }

 private:
  Mutex& mutex_;
  const Site site_;
};

// CondVar
//
// A condition variable. Its destruction must come after every use: a `Signal()`
// without the mutex may find the condition variable destroyed.
class CondVar {
 public:
  constexpr explicit CondVar(Site site = Site::current()) {
    if (!std::is_constant_evaluated()) {
      if (Execution* execution = Execution::current()) {
        execution->Construct(handle_, this, 0, "condition variable", site);
      }
    }
  }
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;
  ~CondVar() {
    if (Execution* execution = Execution::current()) {
      execution->Destroy(handle_, Site::current());
    }
  }

  // Unlocks the mutex, waits for a signal, and locks the mutex again. Can
  // return for no reason (`Options::spurious_failures`).
  void Wait(Mutex* mutex, Site site = Site::current()) {
    WaitFor(*mutex, /*timed=*/false, site);
  }
  // Returns whether time was up. Unless `timeout` is infinite, time can be up
  // at any moment. Can return true even if a signal has ended the wait.
  bool WaitWithTimeout(Mutex* mutex, absl::Duration timeout,
                       Site site = Site::current()) {
    return !WaitFor(*mutex, timeout != absl::InfiniteDuration(), site);
  }
  // Wakes one of the waiting threads, or all.
  void Signal(Site site = Site::current()) { Wake(1, site); }
  void SignalAll(Site site = Site::current()) { Wake(INT_MAX, site); }

 private:
  bool WaitFor(Mutex& mutex, bool timed, const Site& site) {
    Execution* execution = Execution::current();
    return execution == nullptr ||
           execution->ConditionWait(handle_, this, mutex.handle_, &mutex, timed,
                                    site);
  }
  void Wake(int count, const Site& site) {
    if (Execution* execution = Execution::current()) {
      execution->ConditionWake(handle_, this, count, site);
    }
  }

  ObjectHandle handle_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MUTEX_H_
