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
  Metrics metrics() const;

  // As documented at `Registration`. A source is known by its slot, and the
  // slot's index, which `Register()` sets. `attach` and `detach` add the source
  // to the queue, under the token, and remove it.
  absl::StatusOr<Slot*> Register(absl::FunctionRef<absl::Status(Token)> attach,
                                 uint32_t& index);
  absl::Status Deregister(absl::FunctionRef<absl::Status()> detach, Slot* slot,
                          uint32_t index);

  const EventQueue& queue() const { return queue_; }

  // As documented at `Reactor`.
  absl::StatusOr<size_t> Turn(Events& events, absl::Duration max_wait);
  bool PrepareToWait();
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

  // Makes the next unpark end a wait for the queue. Returns false if an unpark
  // has come that no turn has used up.
  bool BeginToPark();

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

  // Counts for metrics, which order nothing, and are no business of the model
  // checker's.
  std::atomic<uint64_t> registrations_{0};
  std::atomic<uint64_t> ready_events_{0};  // written in `Turn()` alone

  mutable ThreadMutex mu_;
  // Whether somebody waits for the last source to go.
  bool unpark_when_idle_ ABSL_GUARDED_BY(mu_) = false;
  // Guarded by `mu_`, but for `Get()`.
  SlotTable slots_;
};

}  // namespace rouse::reactor::internal

#endif  // ROUSE_REACTOR_CORE_H_
