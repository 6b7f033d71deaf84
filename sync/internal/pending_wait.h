// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pending_wait.h
// -----------------------------------------------------------------------------
//
// A future that waits in a list of waiters keeps its place in a `PendingWait`.
// Internal to `sync/`.
//
//   class WaitFuture {
//    public:
//     explicit WaitFuture(Event& event) : wait_(&event) {}
//
//     PollResult<void> Poll(Context& cx) {
//       return wait_.Poll(cx, &Event::Wait);
//     }
//
//    private:
//     PendingWait<Event, kWait> wait_;
//   };
//
// where `Event` has the following members:
//
//   // Returns false if the event has happened. Otherwise returns true: `node`
//   // is in the list, and `waker` will be woken.
//   bool Wait(WaitNode& node, const Waker& waker);
//   // Removes `node` from the list, if `node` is in the list. Takes the lock
//   // even if the node has left the list: the notifier may still hold the
//   lock,
//   // and the caller may destroy the event next (see wait_node.h).
//   void StopWaiting(WaitNode& node);

#ifndef ROUSE_SYNC_INTERNAL_PENDING_WAIT_H_
#define ROUSE_SYNC_INTERNAL_PENDING_WAIT_H_

#include <functional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// Panics and reports that the future of `call`, such as "SetOnce::Wait", was
// moved although it waits.
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicMovedAfterPoll(
    std::string_view call);

// Panics and reports that the future of `call` was polled although it was
// ready, or was moved from.
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicPolledAfterEnd(
    std::string_view call);

// PendingWait
//
// The part of a future that waits for `Source`, and leaves the list of `Source`
// when the future is destroyed. `kCall` is the name of the future's call in
// panic messages.
//
// A `PendingWait` can be moved as long as it does not wait. Moving it later is
// a panic, and changes nothing. Polling a `PendingWait` that has finished or
// was moved from is a panic too.
template <class Source, const auto& kCall>
class PendingWait {
 public:
  explicit PendingWait(Source* source) : source_(source) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  PendingWait(PendingWait&& other) : source_(other.source_) {
    if (ABSL_PREDICT_FALSE(other.waits_)) PanicMovedAfterPoll(kCall);
    other.source_ = nullptr;
  }
  PendingWait& operator=(PendingWait&&) = delete;
  ~PendingWait() { Stop(); }

  // Polls for an event that has no result. `wait(Source&, WaitNode&, const
  // Waker&)` returns whether the future must wait, as `Event::Wait()` does.
  template <class Wait>
  PollResult<void> Poll(Context& cx, Wait wait) {
    Source& awaited = source();
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (std::invoke(wait, awaited, node_, cx.waker())) {
      waits_ = true;
      return kPending;
    }
    unit->MadeProgress();
    // Waits for the notifier to release the lock.
    Stop();
    Finish();
    return {};
  }

  // ---- For futures with polls of their own.

  // Returns the source. A poll begins with this call.
  Source& source() const {
    if (ABSL_PREDICT_FALSE(source_ == nullptr)) PanicPolledAfterEnd(kCall);
    return *source_;
  }

  WaitNode& node() { return node_; }

  // Returns whether the node may be in the list.
  bool waits() const { return waits_; }
  void set_waits(bool waits) { waits_ = waits; }

  // Leaves the list, if the node may be in the list.
  void Stop() {
    if (std::exchange(waits_, false)) source_->StopWaiting(node_);
  }
  // Ends the use of the source.
  // REQUIRES: the node is not in the list.
  void Finish() { source_ = nullptr; }

 private:
  Source* source_;  // null: finished or moved from
  // `waits_` is in the padding of the node.
  [[no_unique_address]] WaitNode node_;
  bool waits_ = false;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_PENDING_WAIT_H_
