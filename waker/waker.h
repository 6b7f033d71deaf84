// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: waker.h
// -----------------------------------------------------------------------------
//
// A `Waker` tells one task that it should be polled again. A future that is not
// ready keeps a clone of the waker it was polled with, and whoever makes it
// ready calls `Wake()`:
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
// Where the two run on different threads, use an `AtomicWaker`.

#ifndef ROUSE_WAKER_WAKER_H_
#define ROUSE_WAKER_WAKER_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "rouse/base/atomic.h"

namespace rouse {

struct RawWakerVTable;

// What a waker is made of. Owns nothing by itself; `Waker` does.
struct RawWaker {
  void* data;
  const RawWakerVTable* vtable;
};

// RawWakerVTable
//
// How an executor implements its wakers. All of these may be called from any
// thread, and at the same time. A vtable lives forever.
struct RawWakerVTable {
  // Another waker of the same task. May throw, and then has done nothing.
  RawWaker (*clone)(void* data);
  // Wakes the task and gives up the caller's reference. May throw; but where a
  // destructor wakes (the last sender's, a guard's, that of a future which
  // passes on what it was given), that ends the program.
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
// Two words. Waking means that the task is polled again some time after, never
// that it runs inside the call. Waking a task that has ended does nothing.
//
// A waker may be handed to another thread; one waker object must not be used by
// two at once except through const members, which are thread-safe. Move-only,
// so that taking a reference is visible: `Clone()`. A moved-from or
// default-constructed waker is the no-op waker.
class Waker {
 public:
  Waker() = default;
  explicit Waker(RawWaker raw) : raw_(raw) {}
  Waker(Waker&& other) noexcept : raw_(std::exchange(other.raw_, kNoop)) {}
  Waker& operator=(Waker&& other) noexcept {
    // What was here is dropped last, when both wakers have their new value.
    Waker replaced(std::move(other));
    std::swap(raw_, replaced.raw_);
    return *this;
  }
  // A `drop` that throws here, or in an assignment, ends the program: see
  // `Reset()`.
  ~Waker() { Drop(raw_); }

  // A waker that does nothing.
  static Waker Noop() { return Waker(); }

  // A waker that calls `wake()`, which may run on any thread, several times
  // and at once, and is destroyed with the last clone. Allocates once.
  template <class F>
  static Waker FromCallable(F wake);

  // Another waker of the same task. Throws what the executor's `clone` does.
  Waker Clone() const { return Waker(raw_.vtable->clone(raw_.data)); }

  // Wakes the task and leaves the no-op waker behind: cheaper than
  // `WakeByRef()` and a destructor.
  void Wake() && {
    const RawWaker raw = std::exchange(raw_, kNoop);
    raw.vtable->wake(raw.data);
  }

  // Wakes the task and keeps the waker.
  void WakeByRef() const { raw_.vtable->wake_by_ref(raw_.data); }

  // Becomes the no-op waker. As the destructor, but lets what `drop` throws
  // pass; the waker is the no-op waker even then.
  void Reset() { Drop(std::exchange(raw_, kNoop)); }

  // Whether both wake the same task. May be false for two of the same task,
  // never true for two of different ones.
  bool WillWake(const Waker& other) const {
    return raw_.data == other.raw_.data && raw_.vtable == other.raw_.vtable;
  }

  bool IsNoop() const { return raw_.vtable == kNoop.vtable; }

  // The parts, for an executor that knows its own vtable. The waker keeps its
  // reference.
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
// A waker that holds no reference: for an executor that polls a task it keeps
// alive, and so need not count. `Clone()` of it is an ordinary waker.
class BorrowedWaker {
 public:
  // REQUIRES: what `raw` names outlives this object.
  explicit BorrowedWaker(RawWaker raw) : waker_(raw) {}
  BorrowedWaker(const BorrowedWaker&) = delete;
  BorrowedWaker& operator=(const BorrowedWaker&) = delete;
  ~BorrowedWaker() {}

  const Waker& get() const { return waker_; }

 private:
  // In a union, so that its destructor, which would drop, does not run.
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
    // Owns the reference, so that it goes even if the callable throws.
    const Waker waker(RawWaker{data, &kVTable});
    waker.WakeByRef();
  }
  static void WakeByRef(void* data) { From(data)->wake_(); }
  static void Drop(void* data) {
    // Release pairs with the acquire of whoever drops the last reference: all
    // use of the callable comes before its destruction.
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
