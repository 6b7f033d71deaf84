// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: barrier.h
// -----------------------------------------------------------------------------
//
// A `Barrier` lets a number of tasks continue once all of them have arrived:
//
//   rouse::Barrier barrier(4);
//
//   rouse::Co<> Work(Part& part) {                    // four of these
//     for (;;) {
//       Compute(part);
//       rouse::BarrierWaitResult result = co_await barrier.Wait();
//       if (result.is_leader()) Print();
//     }
//   }
//
// Afterwards the barrier is in its initial state again, for the next round.

#ifndef ROUSE_SYNC_BARRIER_BARRIER_H_
#define ROUSE_SYNC_BARRIER_BARRIER_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// BarrierWaitResult
//
// The result of a wait at a barrier.
class BarrierWaitResult {
 public:
  explicit BarrierWaitResult(bool is_leader) : is_leader_(is_leader) {}

  // Returns true for the last future of the round to arrive, and false for the
  // others.
  bool is_leader() const { return is_leader_; }

 private:
  bool is_leader_;
};

// Barrier
//
// `Barrier` is thread-safe and allocates nothing. The barrier must outlive its
// futures. Everything done by a task before its arrival is visible to all tasks
// of the round when they continue.
class Barrier {
 public:
  class WaitFuture;

  // Creates a barrier for `size` tasks; 0 counts as 1.
  explicit Barrier(size_t size) : size_(size == 0 ? 1 : size) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  // Returns a future that is ready when `size` futures, including itself, have
  // arrived. A future arrives when it is first polled. As a rule, however, the
  // last future does not arrive before its task has budget to continue. O(1),
  // and O(size) for the last future.
  //
  // Destroying a future before all have arrived takes back its arrival: the
  // barrier then waits for another future instead. After all have arrived, an
  // arrival can no longer be taken back, and the others continue.
  [[nodiscard]] WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  // Returns whether the next arrival completes the round.
  bool LacksOne();
  // Counts an arrival. Returns whether the arrival completed the round, in
  // which case all waiters have been woken. Otherwise sets `round` to the
  // current round, and `node` waits for the end of `round`.
  bool Arrive(internal::WaitNode& node, Waker& waker, uint64_t& round);
  bool CheckAgain(internal::WaitNode& node, Waker& waker, uint64_t round);
  void Leave(internal::WaitNode& node, uint64_t round);

  const size_t size_;
  BriefLock mu_;
  uint64_t round_ ABSL_GUARDED_BY(mu_) = 0;
  size_t arrived_ ABSL_GUARDED_BY(mu_) = 0;  // in this round
  IntrusiveList<internal::WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// Barrier::WaitFuture
//
// See `Wait()`. Can be moved only before the first poll.
class [[nodiscard]] Barrier::WaitFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  WaitFuture(WaitFuture&& other)
      : barrier_(other.barrier_), stage_(other.stage_) {
    if (stage_ != Stage::kNew) internal::PanicMovedAfterPoll("Barrier::Wait");
    other.stage_ = Stage::kFinished;
  }
  WaitFuture& operator=(WaitFuture&&) = delete;
  ~WaitFuture() {
    if (stage_ == Stage::kWaits) barrier_.Leave(node_, round_);
  }

  PollResult<BarrierWaitResult> Poll(Context& cx);

 private:
  friend class Barrier;

  enum class Stage : uint8_t { kNew, kWaits, kFinished };

  explicit WaitFuture(Barrier& barrier) : barrier_(barrier) {}

  Barrier& barrier_;
  Stage stage_ = Stage::kNew;
  uint64_t round_ = 0;
  internal::WaitNode node_;
};

inline Barrier::WaitFuture Barrier::Wait() { return WaitFuture(*this); }

}  // namespace rouse

#endif  // ROUSE_SYNC_BARRIER_BARRIER_H_
