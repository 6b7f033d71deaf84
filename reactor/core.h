// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// For reactor/ itself: what a reactor, its handles and its registrations share.
// Users have `Reactor` (reactor.h), `Handle` (handle.h) and `Registration`.

#ifndef ROUSE_REACTOR_CORE_H_
#define ROUSE_REACTOR_CORE_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/event_queue.h"
#include "rouse/reactor/events.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/slot.h"
#include "rouse/reactor/slot_table.h"
#include "rouse/reactor/token.h"

namespace rouse::reactor::internal {

// Core
//
// Counted: the reactor, each handle, unparker and registration own a reference.
// Thread-safe but for `Turn()`.
class Core {
 public:
  // Owned by one reference.
  static absl::StatusOr<Core*> New(uint32_t max_sources);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last one: use comes before delete.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  Handle NewHandle() {
    Ref();
    return Handle(this);
  }
  // The same for a reference that the caller has, and gives up.
  Handle TakeHandle() { return Handle(this); }

  // Acquire pairs with the release of Shutdown.
  bool IsShutDown() const { return shut_down_.load(std::memory_order_acquire); }
  bool IsIdle() const;

  // As documented at `Registration`. A source is known by its slot, and the
  // slot's index, which `Register()` sets.
  absl::StatusOr<Slot*> Register(int fd, Interest interest, uint32_t& index);
  absl::Status Deregister(int fd, Slot* slot, uint32_t index);

  // As documented at `Reactor`.
  absl::StatusOr<size_t> Turn(Events& events, absl::Duration max_wait);
  void Unpark();
  void Shutdown();

  // Shuts down if no source is registered, and returns whether it has. If not,
  // the reactor is unparked when the last one goes. REQUIRES: the caller is the
  // thread that turns the reactor, and does so again until this is true.
  bool ShutdownIfIdle();

 private:
  Core(EventQueue queue, uint32_t max_sources);
  ~Core() = default;

  // Takes back a slot whose source has gone.
  void FreeSlot(uint32_t index, bool reusable);

  // The second half of a shutdown: tells all that wait at slots below `bound`.
  void WakeAll(uint32_t bound);

  // Hands the events to their slots.
  void Dispatch(const Events& events);

  EventQueue queue_;
  const uint32_t max_sources_;

  Atomic<size_t> references_{1};
  // How the following work together is said in core.cc.
  Atomic<uint32_t> park_state_{0};
  // Whether a thread is in `Turn()`.
  Atomic<bool> turning_{false};
  // Set under the lock.
  Atomic<bool> shut_down_{false};

  mutable ThreadMutex mu_;
  // Whether somebody waits for the last source to go.
  bool unpark_when_idle_ ABSL_GUARDED_BY(mu_) = false;
  // Guarded by `mu_`, but for `Get()`.
  SlotTable slots_;
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_CORE_H_
