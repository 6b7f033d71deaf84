// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_parker.h
// -----------------------------------------------------------------------------
//
// `ThreadParker` blocks its thread until another thread unparks it. Without a
// reactor, `ThreadParker` is the bottom of the park stack.
//
//   ThreadParker parker;
//   std::thread other([unparker = parker.unparker()] { unparker.Unpark(); });
//   parker.Park();   // returns, whichever of the two came first

#ifndef ROUSE_WAKER_THREAD_PARKER_H_
#define ROUSE_WAKER_THREAD_PARKER_H_

#include <utility>

#include "absl/base/attributes.h"
#include "absl/time/time.h"
#include "rouse/waker/waker.h"

namespace rouse {

// ThreadParker
//
// Implements `Park` (see park.h) with a futex. Only one thread at a time may
// use the functions that park. Any thread may use unparkers and wakers, and
// they may outlive the parker.
class ThreadParker {
  struct Inner;

 public:
  // Unparks the parker. Copying an `Unparker` counts a reference.
  class Unparker {
   public:
    Unparker(const Unparker& other);
    Unparker(Unparker&& other) noexcept = default;
    Unparker& operator=(const Unparker& other);
    Unparker& operator=(Unparker&& other) noexcept = default;
    ~Unparker() = default;

    // Ends the current `Park()`, or otherwise the next one. Does nothing after
    // the parker is destroyed. Everything that happened before the call is
    // visible after the park.
    void Unpark() const { waker_.WakeByRef(); }

    // Returns an unparking waker. For polling a future on this thread.
    const Waker& waker() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return waker_; }

   private:
    friend class ThreadParker;
    explicit Unparker(Waker waker) : waker_(std::move(waker)) {}

    Waker waker_;
  };

  ThreadParker();
  ThreadParker(const ThreadParker&) = delete;
  ThreadParker& operator=(const ThreadParker&) = delete;
  ~ThreadParker();

  // Returns an unparker, which can be copied and may outlive this object.
  Unparker unparker() const;

  // Blocks until unparked. Returns at once if an unpark has happened already.
  void Park();

  // Like `Park()`, but for a thread that is likely to be unparked soon. Before
  // blocking, the thread spins for at most `AdaptiveSpin::kLimit`, if spinning
  // has paid off recently on this thread (see adaptive_spin.h).
  void SpinThenPark();

  // Blocks for at most `limit` on the monotonic clock, rounded up to a
  // nanosecond. May return early for no reason, so the caller must check the
  // awaited condition.
  void ParkFor(absl::Duration limit);

  // Unparks. No other waiter exists here.
  void Shutdown();

 private:
  static const RawWakerVTable kVTable;

  Inner* const inner_;  // one reference
};

}  // namespace rouse

#endif  // ROUSE_WAKER_THREAD_PARKER_H_
