// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutex.h
// -----------------------------------------------------------------------------
//
// `absl::Mutex` and `absl::CondVar` of the virtual machine. Code under test
// uses base/thread_mutex.h.

#ifndef ROUSE_TESTING_SCALING_MUTEX_H_
#define ROUSE_TESTING_SCALING_MUTEX_H_

#include <atomic>
#include <cstdint>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "rouse/testing/scaling/atomic.h"
#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {

// Mutex
//
// Waiters spin, and get the lock in the order of their requests. (Abseil's
// mutex spins before it sleeps, for longer than the critical sections here.)
class ABSL_LOCKABLE Mutex {
 public:
  constexpr Mutex() = default;
  constexpr explicit Mutex(absl::ConstInitType) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Like the functions of these names in `absl::Mutex`.
  void Lock(Site site = Site::current()) ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    Pay(Access::kModify, this, site);
    if (!is_held_) {
      is_held_ = true;
      return;
    }
    // The holder hands the lock over.
    Machine::current()->StandInLine(this);
    Pay(Access::kModify, this, site);
  }
  bool TryLock(Site site = Site::current())
      ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    Pay(Access::kModify, this, site);
    if (is_held_) return false;
    is_held_ = true;
    return true;
  }
  void Unlock(Site site = Site::current()) ABSL_UNLOCK_FUNCTION() {
    Pay(Access::kModify, this, site);
    Machine* const machine = Machine::current();
    if (machine == nullptr || !machine->Admit(this)) is_held_ = false;
  }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  bool is_held_ = false;
};

// MutexLock
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
class CondVar {
 public:
  constexpr CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Like the functions of these names in `absl::CondVar`.
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    WaitWithTimeout(mutex, absl::InfiniteDuration());
  }
  bool WaitWithTimeout(Mutex* mutex, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const uint64_t before = signals_;
    mutex->Unlock();
    Machine::current()->FutexWait(
        this, [this, before] { return signals_ == before; },
        timeout == absl::InfiniteDuration()
            ? Machine::kNever
            : absl::ToDoubleNanoseconds(timeout));
    mutex->Lock();
    return signals_ == before;
  }
  void Signal() {
    ++signals_;
    Machine::current()->FutexWakeOne(this);
  }
  void SignalAll() {
    ++signals_;
    Machine* const machine = Machine::current();
    while (machine->FutexWakeAt(this, machine->now())) {
    }
  }

 private:
  uint64_t signals_ = 0;
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_MUTEX_H_
