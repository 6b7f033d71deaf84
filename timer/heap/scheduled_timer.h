// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduled_timer.h
// -----------------------------------------------------------------------------
//
// `ScheduledTimer` is what a `Delay` and its `Timer` share: when the delay
// ends, whether it has ended, and whom to wake.
//
//   // The delay's thread.
//   if (node->Reset(deadline)) changed.Push(node);
//   ...
//   if (node->Poll(cx.waker()) == ScheduledTimer::State::kFired) ...
//
//   // The timer's thread, of a node that it has popped.
//   if (auto armed = node->Look()) {
//     ... from `armed->deadline` on ...
//     node->Fire(armed->generation);
//   }

#ifndef ROUSE_TIMER_HEAP_SCHEDULED_TIMER_H_
#define ROUSE_TIMER_HEAP_SCHEDULED_TIMER_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/heap.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {

// ScheduledTimer
//
// Two threads use one: the delay's and the timer's, each of which may change
// from call to call if the calls are ordered. `Invalidate()` is for both. No
// operation blocks; all are O(1), and none allocates.
//
// What the timer's thread did before `Fire()`, and either before
// `Invalidate()`, happens before the return of a `Poll()` that finds it done.
class ScheduledTimer : public RefCounted<ScheduledTimer>, public ArcListNode {
 public:
  using Slot = Heap<Instant, Ref<ScheduledTimer>>::Slot;

  enum class State {
    kWaiting,
    kFired,
    // It will never fire: its timer has gone. Final.
    kInvalid,
  };

  // What is to be fired, and when.
  struct Armed {
    uint64_t generation;
    Instant deadline;
  };

  // What the timer's thread knows of the node.
  struct Registration {
    std::optional<Slot> slot;
    uint64_t generation = 0;
  };

  // `generation`: where to begin; for tests.
  explicit ScheduledTimer(Instant deadline, uint64_t generation = 0)
      : state_(generation * kOneGeneration),
        deadline_(deadline.nanoseconds()) {}

  // For the delay's thread.

  // Begins again, with another deadline. From the return on no `Fire()` for
  // what was armed before does anything.
  //
  // False: the node is invalid. Otherwise it must be pushed next, and
  // invalidated if the list is sealed.
  bool Reset(Instant deadline);

  // How it stands; while it waits, the next `Fire()` or `Invalidate()` calls
  // `waker`.
  State Poll(const Waker& waker);

  // The delay goes: invalid, and its waker is dropped. One that is being called
  // is called none the less. True if the timer may have to be told, by a push.
  bool Cancel();

  Instant deadline() const {
    // Relaxed: this thread's own.
    return Instant::FromNanoseconds(deadline_.load(std::memory_order_relaxed));
  }

  // For the timer's thread.

  // What there is to fire, if anything. Of a popped node: it sees every
  // `Reset()` whose push was before, and each later one brings the node again.
  std::optional<Armed> Look() const;

  // Fires and wakes, if nothing has happened to the node since the `Look()` of
  // that generation. What a waker throws is passed on, after the firing.
  void Fire(uint64_t generation);

  Registration& registration() { return registration_.Write(); }

  // For both.

  // There is no timer any more. Wakes, unless the node is invalid already.
  void Invalidate();

 private:
  // The protocol is in scheduled_timer.cc. Below a generation are two bits.
  static constexpr uint64_t kOneGeneration = 4;

  Atomic<uint64_t> state_;
  Atomic<int64_t> deadline_;
  AtomicWaker waker_;
  Cell<Registration> registration_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_SCHEDULED_TIMER_H_
