// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_parker.h
// -----------------------------------------------------------------------------
//
// `ThreadParker` blocks its thread until another one unparks it: the bottom of
// the park stack where there is no reactor.
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
// A `Park` (see park.h) on a futex. What parks is for one thread at a time;
// unparkers and wakers are for any, and may outlive the parker.
class ThreadParker {
  struct Inner;

 public:
  // Unparks. Copying it counts a reference.
  class Unparker {
   public:
    Unparker(const Unparker& other);
    Unparker(Unparker&& other) noexcept = default;
    Unparker& operator=(const Unparker& other);
    Unparker& operator=(Unparker&& other) noexcept = default;
    ~Unparker() = default;

    // Ends the current `Park()` or else the next one. Does nothing after the
    // parker has gone. What came before the call is visible after the park.
    void Unpark() const { waker_.WakeByRef(); }

    // A waker that unparks: for polling a future on this thread.
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

  Unparker unparker() const;

  // Blocks until unparked; returns at once if that has happened already.
  void Park();

  // The same for who is likely to be unparked soon: before it blocks it looks
  // for 30 microseconds at the most, if that has lately paid off on this thread
  // (see adaptive_spin.h).
  void SpinThenPark();

  // Blocks for `limit` at the most, on the monotonic clock, rounded up to a
  // nanosecond. May return early for no reason: the caller looks at what it
  // waits for.
  void ParkFor(absl::Duration limit);

  // Unparks. Nothing else waits here.
  void Shutdown();

 private:
  static const RawWakerVTable kVTable;

  Inner* const inner_;  // one reference
};

}  // namespace rouse

#endif  // ROUSE_WAKER_THREAD_PARKER_H_
