// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands for a oneshot channel in the workloads: one task sends, once, and
// one awaits it. As in the peers, both ends share one allocation.

#ifndef ROUSE_BENCHMARKS_SIGNAL_H_
#define ROUSE_BENCHMARKS_SIGNAL_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "rouse/base/frame_pool.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::bench {

// One end of a signal; a copy is another. `Send()` from any thread.
class Signal {
 public:
  // A future that is ready when the signal has been sent. Is an end.
  class WaitFuture;

  Signal() : state_(new State) {}
  Signal(const Signal& other) : state_(other.state_) { state_->AddEnd(); }
  Signal(Signal&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  Signal& operator=(Signal other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Signal() {
    if (state_ != nullptr && state_->DropEnd()) delete state_;
  }

  void Send() const { state_->Send(); }

  WaitFuture Wait() const&;
  WaitFuture Wait() &&;

 private:
  class State {
   public:
    static void* operator new(size_t size) { return FramePool::Allocate(size); }
    static void operator delete(void* state, size_t size) {
      FramePool::Free(state, size);
    }

    void AddEnd() {
      // Relaxed: the caller has an end.
      ends_.fetch_add(1, std::memory_order_relaxed);
    }
    // Whether it was the last one.
    bool DropEnd() {
      // Release pairs with the acquire of the last end: use comes before
      // delete. The load spares the last one the read-modify-write.
      return ends_.load(std::memory_order_acquire) == 1 ||
             ends_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    void Send() {
      // Release pairs with the acquires of IsSent and Register: what came
      // before is visible. Acquire pairs with the release of Register.
      if (stage_.exchange(kSent, std::memory_order_acq_rel) == kWaiting) {
        std::move(waker_).Wake();
      }
    }

    bool IsSent() const {
      return stage_.load(std::memory_order_acquire) == kSent;
    }

    // Has the sender wake `waker`. False if it has sent. By one waiter.
    bool Register(const Waker& waker) {
      // Acquire, here and where an exchange fails: it has been sent.
      int stage = stage_.load(std::memory_order_acquire);
      if (stage == kSent ||
          (stage == kWaiting && !stage_.compare_exchange_strong(
                                    stage, kIdle, std::memory_order_acquire,
                                    std::memory_order_acquire))) {
        return false;
      }
      waker_ = waker.Clone();
      stage = kIdle;
      return stage_.compare_exchange_strong(stage, kWaiting,
                                            std::memory_order_release,
                                            std::memory_order_acquire);
    }

   private:
    // The waker is the sender's while somebody waits, else the waiter's.
    enum Stage : int { kIdle, kWaiting, kSent };

    std::atomic<size_t> ends_{1};
    std::atomic<int> stage_{kIdle};
    Waker waker_;
  };

  State* state_;
};

class Signal::WaitFuture {
 public:
  explicit WaitFuture(Signal signal) : signal_(std::move(signal)) {}

  PollResult<void> Poll(Context& cx) {
    State& state = *signal_.state_;
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (!state.IsSent() && state.Register(cx.waker())) return kPending;
    unit->MadeProgress();
    return {};
  }

 private:
  Signal signal_;
};

inline Signal::WaitFuture Signal::Wait() const& { return WaitFuture(*this); }
inline Signal::WaitFuture Signal::Wait() && {
  return WaitFuture(std::move(*this));
}

}  // namespace rouse::bench

#endif  // ROUSE_BENCHMARKS_SIGNAL_H_
