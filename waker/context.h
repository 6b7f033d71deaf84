// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: context.h
// -----------------------------------------------------------------------------
//
// A `Context` goes down with every poll: whom to wake, how much more this poll
// may do before it lets other tasks run, and where random choices come from.
//
// # The cooperative budget
//
// One poll of a task may make `kBudgetPerPoll` units of progress. A leaf future
// that could otherwise be ready forever, such as a socket that is never empty,
// takes a unit before each operation:
//
//   PollResult<absl::StatusOr<size_t>> PollRead(Context& cx, Buffer& buffer) {
//     PollResult<BudgetUnit> unit = PollProceed(cx);
//     if (unit.IsPending()) return kPending;
//     ... the operation; if it is pending the unit is given back ...
//     unit->MadeProgress();
//     return bytes;
//   }
//
// What writes a stream may say how many bytes, since many take longer:
// `unit->MadeProgress(bytes)`. So a task that sends without end gives way while
// what it has sent is still in the cache for whoever reads it.
//
// With no unit left `PollProceed()` yields and is pending, so the task goes to
// the back of its queue.

#ifndef ROUSE_WAKER_CONTEXT_H_
#define ROUSE_WAKER_CONTEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/fast_rand.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

class BudgetUnit;

// Yielded
//
// What a poll tells an executor that asks for it.
struct Yielded {
  // The task is to be polled again, after the others, without having been
  // woken for it: counts if the poll was pending.
  bool to_others = false;
  // The budget was used up.
  bool by_force = false;
};

// How many units of progress one poll of a task may make.
inline constexpr uint32_t kBudgetPerPoll = 128;

// How many bytes count as a unit, where bytes are moved. To copy so many takes
// about as long as a small system call.
inline constexpr size_t kBytesPerUnit = 4096;

// Context
//
// Made by an executor for one poll, on the stack, and passed by reference. Not
// thread-safe, and not kept beyond the poll.
class Context {
 public:
  // A poll with a full budget. `waker`, `rand` and `yielded` outlive the
  // context. Without a `rand` random choices come from a fixed seed; without a
  // `yielded`, whoever yields wakes `waker`.
  explicit Context(const Waker& waker ABSL_ATTRIBUTE_LIFETIME_BOUND,
                   FastRand* rand = nullptr, Yielded* yielded = nullptr)
      : waker_(&waker), poll_(&own_) {
    own_.rand = rand != nullptr ? rand : &own_.fallback_rand;
    own_.yielded = yielded;
  }

  // A part of the poll `outer` that wakes `waker` instead; the budget is
  // shared. For a combinator that wants to know which of its children woke.
  Context(const Waker& waker ABSL_ATTRIBUTE_LIFETIME_BOUND,
          Context& outer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : waker_(&waker), poll_(outer.poll_) {}

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Wakes the task that is being polled. Clone it to keep it.
  const Waker& waker() const { return *waker_; }

  // Has the task polled again after others that can run: wakes it, or does what
  // costs less and comes to the same. The poll is then to be pending.
  void Yield() {
    // A combinator is to be told which of its children it was.
    if (poll_ == &own_ && own_.yielded != nullptr) {
      own_.yielded->to_others = true;
    } else {
      waker_->WakeByRef();
    }
  }

  // The generator for choices such as which arm of a `Select` goes first.
  FastRand& rand() { return *poll_->rand; }

  // Whether this poll has budget left.
  bool HasBudget() const { return poll_->unconstrained || poll_->budget > 0; }

 private:
  friend class BudgetUnit;
  friend class UnconstrainedScope;
  friend PollResult<BudgetUnit> PollProceed(Context& cx);
  friend PendingTag YieldForBudget(Context& cx);
  friend void TakeUnitIfAny(Context& cx);

  // What all contexts of one poll share.
  struct Poll {
    uint32_t budget = kBudgetPerPoll;
    bool unconstrained = false;
    FastRand* rand = nullptr;
    Yielded* yielded = nullptr;
    FastRand fallback_rand{0};
  };

  const Waker* waker_;
  Poll* poll_;
  Poll own_;
};

// BudgetUnit
//
// A unit taken by `PollProceed()`. Unless `MadeProgress()` was called its
// destructor gives it back, so that polling what is pending costs nothing.
class [[nodiscard]] BudgetUnit {
 public:
  BudgetUnit(BudgetUnit&& other) noexcept
      : poll_(std::exchange(other.poll_, nullptr)) {}
  BudgetUnit& operator=(BudgetUnit&&) = delete;
  ~BudgetUnit() {
    if (poll_ != nullptr) ++poll_->budget;
  }

  // Keeps the unit. Of progress that moved `bytes`, takes one more for each
  // `kBytesPerUnit` of them, as far as there are any.
  void MadeProgress(size_t bytes = 0) {
    if (poll_ == nullptr) return;
    poll_->budget -= static_cast<uint32_t>(
        std::min<size_t>(bytes / kBytesPerUnit, poll_->budget));
    poll_ = nullptr;
  }

 private:
  friend PollResult<BudgetUnit> PollProceed(Context& cx);

  // Null: there is nothing to give back.
  explicit BudgetUnit(Context::Poll* poll) : poll_(poll) {}

  Context::Poll* poll_;
};

// YieldForBudget()
//
// Yields because there is no budget left, and is counted as such. The poll is
// then to be pending: `return YieldForBudget(cx);`.
inline PendingTag YieldForBudget(Context& cx) {
  Yielded* const yielded = cx.poll_->yielded;
  if (yielded != nullptr) yielded->by_force = true;
  cx.Yield();
  return kPending;
}

// PollProceed()
//
// Takes one unit of the budget. With none left, yields and is pending.
// The unit must not outlive the poll.
inline PollResult<BudgetUnit> PollProceed(Context& cx) {
  Context::Poll& poll = *cx.poll_;
  if (poll.unconstrained) return BudgetUnit(nullptr);
  if (poll.budget == 0) return YieldForBudget(cx);
  --poll.budget;
  return BudgetUnit(&poll);
}

// TakeUnitIfAny()
//
// Takes one unit of the budget, and keeps it, if there is one: for progress
// that has been made in any case.
inline void TakeUnitIfAny(Context& cx) {
  Context::Poll& poll = *cx.poll_;
  if (!poll.unconstrained && poll.budget > 0) --poll.budget;
}

// UnconstrainedScope
//
// While it lives, `PollProceed(cx)` always proceeds and takes nothing. The
// future that does this for all its polls is `Unconstrained()`, in
// "rouse/future/unconstrained.h".
class UnconstrainedScope {
 public:
  explicit UnconstrainedScope(Context& cx)
      : poll_(*cx.poll_), outer_(std::exchange(poll_.unconstrained, true)) {}
  UnconstrainedScope(const UnconstrainedScope&) = delete;
  UnconstrainedScope& operator=(const UnconstrainedScope&) = delete;
  ~UnconstrainedScope() { poll_.unconstrained = outer_; }

 private:
  Context::Poll& poll_;
  const bool outer_;
};

}  // namespace rouse

#endif  // ROUSE_WAKER_CONTEXT_H_
