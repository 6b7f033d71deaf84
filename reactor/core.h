// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: core.h
// -----------------------------------------------------------------------------
//
// For use in reactor/ only: the state that a reactor shares with its handles
// and registrations. Users have `Reactor` (reactor.h), `Handle` (handle.h) and
// `Registration`.

#ifndef ROUSE_REACTOR_CORE_H_
#define ROUSE_REACTOR_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/event_queue.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/slot_table.h"

namespace rouse::reactor::internal {

// Core
//
// Reference-counted: the reactor and each handle, unparker and registration own
// a reference. Thread-safe except for `Turn()`.
class Core {
 public:
  // Makes a core. The caller owns the only reference.
  static absl::StatusOr<Core*> New(uint32_t max_sources);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Ref() {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release pairs with the acquire of the last `Unref()`: every use comes
    // before the delete.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  Handle NewHandle() {
    Ref();
    return Handle(this);
  }
  // Like `NewHandle()`, but takes over a reference of the caller.
  Handle TakeHandle() { return Handle(this); }

  // Acquire pairs with the release of `Shutdown()`.
  bool IsShutDown() const { return shut_down_.load(std::memory_order_acquire); }
  bool IsIdle() const;
  Metrics metrics() const;

  // Register and deregister a source, as described at `Registration`. A source
  // is identified by its slot, and by the slot's index, which `Register()`
  // sets. `attach` adds the source to the queue under the token; `detach`
  // removes the source.
  absl::StatusOr<Slot*> Register(absl::FunctionRef<absl::Status(Token)> attach,
                                 uint32_t& index);
  absl::Status Deregister(absl::FunctionRef<absl::Status()> detach, Slot* slot,
                          uint32_t index);
  // Changes the registration of a source by `change`, which gets the token
  // under which the source is registered.
  absl::Status Reregister(absl::FunctionRef<absl::Status(Token)> change,
                          const Slot* slot, uint32_t index) const;

  const EventQueue& queue() const { return queue_; }

  // Implement the functions of the same names of `Reactor`.
  absl::StatusOr<size_t> Turn(Events& events, absl::Duration max_wait);
  bool PrepareToWait();
  void Unpark();
  void Shutdown();

  // Shuts the reactor down if no source is registered, and returns whether it
  // did. Otherwise the reactor is unparked when the last source is
  // deregistered. REQUIRES: the caller is the thread that turns the reactor,
  // and calls this function again until the result is true.
  bool ShutdownIfIdle();

 private:
  Core(EventQueue queue, uint32_t max_sources);
  ~Core() = default;

  // Takes back the slot of a source that was deregistered.
  void FreeSlot(uint32_t index, bool reusable);

  // Does the second half of a shutdown: notifies all waiters at slots below
  // `bound`.
  void WakeAll(uint32_t bound);

  // Makes the next unpark end a wait for the queue. Returns false if an earlier
  // unpark has not been used up by a turn.
  bool BeginToPark();

  // Passes the events to their slots.
  void Dispatch(const Events& events);

  EventQueue queue_;
  const uint32_t max_sources_;

  Atomic<size_t> references_{1};
  // The comment in core.cc explains how the following members work together.
  Atomic<uint32_t> park_state_{0};
  // True while a thread is in `Turn()`.
  Atomic<bool> turning_{false};
  // Set under the lock.
  Atomic<bool> shut_down_{false};

  // Counts for the metrics. The counts order nothing, and the model checker
  // ignores them.
  std::atomic<uint64_t> registrations_{0};
  std::atomic<uint64_t> ready_events_{0};  // written only in `Turn()`

  mutable ThreadMutex mu_;
  // True if the reactor must be unparked when the last source is deregistered.
  bool unpark_when_idle_ ABSL_GUARDED_BY(mu_) = false;
  // Guarded by `mu_`, except for `Get()`.
  SlotTable slots_;
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_CORE_H_
