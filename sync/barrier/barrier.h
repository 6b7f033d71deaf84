// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: barrier.h
// -----------------------------------------------------------------------------
//
// A `Barrier` lets a number of tasks go on when all of them have come:
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
// Then it is as at the beginning, for the next round.

#ifndef ROUSE_SYNC_BARRIER_BARRIER_H_
#define ROUSE_SYNC_BARRIER_BARRIER_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// BarrierWaitResult
class BarrierWaitResult {
 public:
  explicit BarrierWaitResult(bool is_leader) : is_leader_(is_leader) {}

  // True for one of those that went on together: the last to come.
  bool is_leader() const { return is_leader_; }

 private:
  bool is_leader_;
};

// Barrier
//
// Thread-safe. Nothing allocates. It must outlive its futures. What each of
// those that go on together did before it came is visible to all of them.
class Barrier {
 public:
  class WaitFuture;

  // For `size` tasks; 0 is as 1.
  explicit Barrier(size_t size) : size_(size == 0 ? 1 : size) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  // A future that is ready when, with it, `size` have come: it comes when it is
  // first polled, but the last, as a rule, not before its task has budget to go
  // on. O(1), O(size) for the last.
  //
  // One that is destroyed before all have come has not come: another is waited
  // for in its place. When all have come it is too late for that; the others go
  // on.
  [[nodiscard]] WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  // Whether one that comes now is the last.
  bool LacksOne();
  // Counts one more. Whether it was the last, and all have been woken. If not
  // `node` waits for the end of `round`.
  bool Arrive(internal::WaitNode& node, Waker& waker, uint64_t& round);
  bool LookAgain(internal::WaitNode& node, Waker& waker, uint64_t round);
  void Leave(internal::WaitNode& node, uint64_t round);

  const size_t size_;
  BriefLock mu_;
  uint64_t round_ ABSL_GUARDED_BY(mu_) = 0;
  size_t arrived_ ABSL_GUARDED_BY(mu_) = 0;  // in this round
  IntrusiveList<internal::WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

// Barrier::WaitFuture
//
// See `Wait()`. Moved only before it is polled.
class [[nodiscard]] Barrier::WaitFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  WaitFuture(WaitFuture&& other)
      : barrier_(other.barrier_), stage_(other.stage_) {
    if (stage_ != Stage::kNew) PanicMoved();
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

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

  Barrier& barrier_;
  Stage stage_ = Stage::kNew;
  uint64_t round_ = 0;
  internal::WaitNode node_;
};

inline Barrier::WaitFuture Barrier::Wait() { return WaitFuture(*this); }

}  // namespace rouse

#endif  // ROUSE_SYNC_BARRIER_BARRIER_H_
