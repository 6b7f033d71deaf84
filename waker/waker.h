// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waker.h
// -----------------------------------------------------------------------------
//
// A `Waker` makes one task runnable, so that the task is polled again. A future
// that is not ready keeps a clone of the poll's waker, and the code that makes
// the future ready calls `Wake()`:
//
//   PollResult<void> Poll(Context& cx) {
//     if (done_) return {};
//     waker_ = cx.waker().Clone();
//     return kPending;
//   }
//   void Finish() {
//     done_ = true;
//     std::move(waker_).Wake();
//   }
//
// If the two functions run on different threads, use an `AtomicWaker`.

#ifndef ROUSE_WAKER_WAKER_H_
#define ROUSE_WAKER_WAKER_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "rouse/base/atomic.h"

namespace rouse {

struct RawWakerVTable;

// Holds the parts of a waker. A `RawWaker` owns nothing; a `Waker` does.
struct RawWaker {
  void* data;
  const RawWakerVTable* vtable;
};

// RawWakerVTable
//
// Defines how an executor implements its wakers. The functions may be called
// from any thread, and concurrently. A vtable must live forever.
struct RawWakerVTable {
  // Returns another waker of the same task. May throw, and must then have done
  // nothing.
  RawWaker (*clone)(void* data);
  // Wakes the task and gives up the caller's reference. May throw. But if a
  // destructor wakes (the destructor of the last sender, of a guard, or of a
  // future that passes on what it was given), an exception ends the program.
  void (*wake)(void* data);
  // Wakes the task and keeps the caller's reference.
  void (*wake_by_ref)(void* data);
  // Gives up a reference without waking.
  void (*drop)(void* data);
};

namespace internal {
inline constexpr RawWakerVTable kNoopWakerVTable = {
    [](void* data) { return RawWaker{data, &kNoopWakerVTable}; },
    [](void*) {},
    [](void*) {},
    [](void*) {},
};
}  // namespace internal

// Waker
//
// The size of a waker is two words. A woken task is polled again some time
// later, and never inside the call. Waking a task that has ended does nothing.
//
// A waker may be handed to another thread. Two threads must not use one waker
// object concurrently, except through const members, which are thread-safe.
// Move-only, so that taking a reference is visible: `Clone()`. A moved-from or
// default-constructed waker is the no-op waker.
class Waker {
 public:
  Waker() = default;
  explicit Waker(RawWaker raw) : raw_(raw) {}
  Waker(Waker&& other) noexcept : raw_(std::exchange(other.raw_, kNoop)) {}
  Waker& operator=(Waker&& other) noexcept {
    // The replaced waker is dropped last, when both wakers have their new
    // values.
    Waker replaced(std::move(other));
    std::swap(raw_, replaced.raw_);
    return *this;
  }
  // If `drop` throws here or in an assignment, the program ends: see `Reset()`.
  ~Waker() { Drop(raw_); }

  // Returns a waker that does nothing.
  static Waker Noop() { return Waker(); }

  // Returns a waker that calls `wake()`. The callable may run on any thread,
  // several times and concurrently, and is destroyed with the last clone.
  // Allocates once.
  template <class F>
  static Waker FromCallable(F wake);

  // Returns another waker of the same task. Throws the exceptions of the
  // executor's `clone`.
  Waker Clone() const { return Waker(raw_.vtable->clone(raw_.data)); }

  // Wakes the task and leaves the no-op waker behind. Cheaper than
  // `WakeByRef()` and a destructor.
  void Wake() && {
    const RawWaker raw = std::exchange(raw_, kNoop);
    raw.vtable->wake(raw.data);
  }

  // Wakes the task and keeps the waker.
  void WakeByRef() const { raw_.vtable->wake_by_ref(raw_.data); }

  // Drops the reference, as the destructor does, and becomes the no-op waker.
  // Unlike the destructor, passes on an exception from `drop`; the waker is the
  // no-op waker even then.
  void Reset() { Drop(std::exchange(raw_, kNoop)); }

  // Returns whether both wakers wake the same task. May return false for two
  // wakers of the same task, but never returns true for wakers of different
  // tasks.
  bool WillWake(const Waker& other) const {
    return raw_.data == other.raw_.data && raw_.vtable == other.raw_.vtable;
  }

  // Returns whether the waker does nothing: it was made without a task, moved
  // from or reset.
  bool IsNoop() const { return raw_.vtable == kNoop.vtable; }

  // Returns the parts with the reference, which the caller must pass to another
  // `Waker`, and leaves the no-op waker behind.
  RawWaker Release() && { return std::exchange(raw_, kNoop); }

  // Returns the parts, for an executor that knows its own vtable. The waker
  // keeps its reference.
  const RawWaker& raw() const { return raw_; }

 private:
  static constexpr RawWaker kNoop = {nullptr, &internal::kNoopWakerVTable};

  static void Drop(RawWaker raw) {
    if (raw.vtable != kNoop.vtable) raw.vtable->drop(raw.data);
  }

  RawWaker raw_ = kNoop;
};

// BorrowedWaker
//
// Holds a waker without a reference. For an executor that polls a task and
// keeps the task alive, and therefore need not count. `Clone()` of the waker
// returns an ordinary waker.
class BorrowedWaker {
 public:
  // REQUIRES: the object that `raw` names outlives this object.
  explicit BorrowedWaker(RawWaker raw) : waker_(raw) {}
  BorrowedWaker(const BorrowedWaker&) = delete;
  BorrowedWaker& operator=(const BorrowedWaker&) = delete;
  ~BorrowedWaker() {}

  // Returns the waker, which is valid as long as this object.
  const Waker& get() const { return waker_; }

 private:
  // The waker is in a union so that its destructor, which would drop, does not
  // run.
  union {
    Waker waker_;
  };
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

namespace internal {

template <class F>
class CallableWaker {
 public:
  static RawWaker Make(F wake) {
    return {new CallableWaker(std::move(wake)), &kVTable};
  }

 private:
  explicit CallableWaker(F wake) : wake_(std::move(wake)) {}

  static CallableWaker* From(void* data) {
    return static_cast<CallableWaker*>(data);
  }

  static RawWaker Clone(void* data) {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    From(data)->references_.fetch_add(1, std::memory_order_relaxed);
    return {data, &kVTable};
  }
  static void Wake(void* data) {
    // This waker owns the reference, so the reference is released even if the
    // callable throws.
    const Waker waker(RawWaker{data, &kVTable});
    waker.WakeByRef();
  }
  static void WakeByRef(void* data) { From(data)->wake_(); }
  static void Drop(void* data) {
    // Release pairs with the acquire of the thread that drops the last
    // reference: all use of the callable comes before its destruction.
    if (From(data)->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete From(data);
    }
  }

  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &WakeByRef, &Drop};

  Atomic<size_t> references_{1};
  F wake_;
};

}  // namespace internal

template <class F>
Waker Waker::FromCallable(F wake) {
  return Waker(internal::CallableWaker<F>::Make(std::move(wake)));
}

}  // namespace rouse

#endif  // ROUSE_WAKER_WAKER_H_
