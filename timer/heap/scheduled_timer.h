// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scheduled_timer.h
// -----------------------------------------------------------------------------
//
// `ScheduledTimer` is the state that a `Delay` and its `Timer` share: when the
// delay ends, whether the delay has ended, and the waker to call.
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
// Two threads use a node: the delay's thread and the timer's thread. Either may
// change from call to call if the calls are ordered. `Invalidate()` is for both
// threads. No operation blocks or allocates; all are O(1).
//
// Everything that the timer's thread did before `Fire()`, or either thread
// before `Invalidate()`, happens before the return of a `Poll()` that finds the
// result.
class ScheduledTimer : public RefCounted<ScheduledTimer>, public ArcListNode {
 public:
  using Slot = Heap<Instant, Ref<ScheduledTimer>>::Slot;

  enum class State {
    kWaiting,
    kFired,
    // The node will never fire, because its timer has been destroyed. Final.
    kInvalid,
  };

  // The generation to fire, and its deadline.
  struct Armed {
    uint64_t generation;
    Instant deadline;
  };

  // The record of the node that the timer's thread keeps.
  struct Registration {
    std::optional<Slot> slot;
    uint64_t generation = 0;
  };

  // Makes a node that waits for `deadline`. Tests can set the first
  // `generation`.
  explicit ScheduledTimer(Instant deadline, uint64_t generation = 0)
      : state_(generation * kOneGeneration),
        deadline_(deadline.nanoseconds()) {}

  // For the delay's thread.

  // Restarts the node with another deadline. From the return on, a `Fire()` of
  // an earlier generation does nothing.
  //
  // Returns false if the node is invalid. Otherwise the caller must push the
  // node next, and invalidate the node if the list is sealed.
  bool Reset(Instant deadline);

  // Returns the state. While the node waits, the next `Fire()` or
  // `Invalidate()` calls `waker`.
  State Poll(const Waker& waker);

  // Makes the node invalid and drops its waker, because the delay is being
  // destroyed. If the waker is already being called, the call goes on
  // nonetheless. Returns whether the timer may have to be notified, by a push.
  bool Cancel();

  Instant deadline() const {
    // Relaxed: only this thread writes the deadline.
    return Instant::FromNanoseconds(deadline_.load(std::memory_order_relaxed));
  }

  // For the timer's thread.

  // Returns the generation to fire and its deadline, or nothing if there is
  // nothing to fire. For a popped node: the call sees every `Reset()` whose
  // push came before, and each later push brings the node again.
  std::optional<Armed> Look() const;

  // Fires and wakes, unless the node has changed since the `Look()` that
  // returned `generation`. An exception of the waker is passed on, after the
  // node has fired.
  void Fire(uint64_t generation);

  Registration& registration() { return registration_.Write(); }

  // For both.

  // Makes the node invalid, because the timer no longer exists. Wakes, unless
  // the node is already invalid.
  void Invalidate();

 private:
  // The two bits below the generation are flags. The protocol is in
  // scheduled_timer.cc.
  static constexpr uint64_t kOneGeneration = 4;

  Atomic<uint64_t> state_;
  Atomic<int64_t> deadline_;
  AtomicWaker waker_;
  Cell<Registration> registration_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_SCHEDULED_TIMER_H_
