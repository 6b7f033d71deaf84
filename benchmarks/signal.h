// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands for a oneshot channel in the workloads: one task sends, once, and
// one awaits it. As in the peers, both ends share one allocation.

#ifndef ROUSE_BENCHMARKS_SIGNAL_H_
#define ROUSE_BENCHMARKS_SIGNAL_H_

#include <atomic>
#include <memory>

#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::bench {

// One end of a signal; a copy is the other. `Send()` from any thread.
class Signal {
 public:
  // A future that is ready when the signal has been sent. Owns an end.
  class WaitFuture {
   public:
    explicit WaitFuture(const Signal& signal) : state_(signal.state_) {}

    PollResult<void> Poll(Context& cx) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      if (!state_->IsSent()) {
        state_->waker.Register(cx.waker());
        if (!state_->IsSent()) return kPending;
      }
      unit->MadeProgress();
      return {};
    }

   private:
    friend class Signal;

    struct State {
      // Acquire pairs with the release in `Send()`.
      bool IsSent() const { return sent.load(std::memory_order_acquire); }

      std::atomic<bool> sent{false};
      AtomicWaker waker;
    };

    std::shared_ptr<State> state_;
  };

  Signal() : state_(std::make_shared<WaitFuture::State>()) {}

  void Send() const {
    // Release pairs with the acquire in `IsSent()`.
    state_->sent.store(true, std::memory_order_release);
    state_->waker.Wake();
  }

  WaitFuture Wait() const { return WaitFuture(*this); }

 private:
  std::shared_ptr<WaitFuture::State> state_;
};

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_SIGNAL_H_
