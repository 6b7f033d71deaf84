// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: context.h
// -----------------------------------------------------------------------------
//
// A `Context` is passed down with every poll. A context holds the waker of the
// task, the budget that is left before the poll lets other tasks run, and the
// source of random choices.
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
// A future that writes to a stream may pass the number of bytes, because many
// bytes take longer: `unit->MadeProgress(bytes)`. A task that sends endlessly
// therefore gives way while the sent data is still in the cache for the reader.
//
// If no unit is left, `PollProceed()` yields and is pending, so the task goes
// to the back of its queue.

#ifndef ROUSE_WAKER_CONTEXT_H_
#define ROUSE_WAKER_CONTEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"
#include "rouse/base/fast_rand.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

class BudgetUnit;

// Yielded
//
// Reports how a poll has yielded, to an executor that asks for the report.
struct Yielded {
  // True if the task must be polled again, after the other tasks, without
  // having been woken. Counts only if the poll was pending.
  bool to_others = false;
  // True if the budget was used up.
  bool by_force = false;
};

// Number of units of progress allowed in one poll of a task.
inline constexpr uint32_t kBudgetPerPoll = 128;

// Number of bytes that count as a unit where bytes are moved. Copying this many
// bytes takes about as long as a small system call.
inline constexpr size_t kBytesPerUnit = 4096;

// Context
//
// An executor makes a context for one poll, on the stack, and passes the
// context by reference. Not thread-safe. Must not be kept beyond the poll.
class Context {
 public:
  // Begins a poll with a full budget. `waker`, `rand` and `yielded` must
  // outlive the context. Without `rand`, random choices come from a fixed seed.
  // Without `yielded`, a future that yields wakes `waker`.
  explicit Context(const Waker& waker ABSL_ATTRIBUTE_LIFETIME_BOUND,
                   FastRand* rand = nullptr, Yielded* yielded = nullptr)
      : waker_(&waker), poll_(&own_) {
    if (rand == nullptr) rand = std::construct_at(&own_.fallback_rand, 0);
    own_.rand = rand;
    own_.yielded = yielded;
  }

  // Makes a part of the poll `outer` that wakes `waker` instead. The budget is
  // shared. For a combinator that must learn which child was woken.
  Context(const Waker& waker ABSL_ATTRIBUTE_LIFETIME_BOUND,
          Context& outer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : waker_(&waker), poll_(outer.poll_) {}

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Returns the waker of the task that is being polled. Clone the waker to keep
  // it.
  const Waker& waker() const { return *waker_; }

  // Has the task polled again after other runnable tasks. Wakes the task, or
  // has the same effect at a lower cost. The poll must then return `kPending`.
  void Yield() {
    // A combinator must learn which child has yielded.
    if (poll_ == &own_ && own_.yielded != nullptr) {
      own_.yielded->to_others = true;
    } else {
      waker_->WakeByRef();
    }
  }

  // Returns the generator for choices such as the first arm of a `Select`.
  FastRand& rand() { return *poll_->rand; }

  // Returns whether this poll has budget left.
  bool HasBudget() const { return poll_->budget > 0; }

 private:
  friend class BudgetUnit;
  friend class UnconstrainedScope;
  friend PollResult<BudgetUnit> PollProceed(Context& cx);
  friend PendingTag YieldForBudget(Context& cx);
  friend void TakeUnitIfAny(Context& cx, size_t bytes);

  // A budget that no poll can use up. Negative as a number with a sign, however
  // much of the budget is spent.
  static constexpr uint64_t kUnlimited = uint64_t{3} << 62;

  // Takes `units` of `budget`, or those that are left.
  static void Spend(uint64_t& budget, uint64_t units) {
    budget -= std::min(units, budget);
  }

  // Holds the state shared by all contexts of one poll.
  struct Poll {
    Poll() {}  // NOLINT(modernize-use-equals-default): has no generator yet

    uint64_t budget = kBudgetPerPoll;
    // Counter to which the units of an unlimited budget go back. The value does
    // not matter. Set by an `UnconstrainedScope`, before the first use.
    uint64_t unlimited;
    FastRand* rand = nullptr;
    Yielded* yielded = nullptr;
    // In a union because most executors pass a generator.
    union {
      FastRand fallback_rand;
    };
  };

  const Waker* waker_;
  Poll* poll_;
  Poll own_;
};

// BudgetUnit
//
// Owns a unit taken by `PollProceed()`. Unless `MadeProgress()` was called, the
// destructor gives the unit back, so a poll of a pending operation costs
// nothing.
//
// A unit taken inside an `UnconstrainedScope` is worth nothing, even after the
// scope. A unit taken before a scope must not be given back inside the scope:
// the unit would be lost. Asserted in debug builds.
class [[nodiscard]] BudgetUnit {
 public:
  BudgetUnit(BudgetUnit&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)) {}
  BudgetUnit& operator=(BudgetUnit&&) = delete;
  ~BudgetUnit() {
    if (budget_ == nullptr) return;
    // Otherwise an `UnconstrainedScope` has begun since the unit was taken.
    ABSL_ASSERT(*budget_ < Context::kUnlimited / 2);
    ++*budget_;
  }

  // Spends the unit. For progress that moved `bytes`, takes a further unit for
  // each `kBytesPerUnit` of them, as long as any units are left.
  void MadeProgress(size_t bytes = 0) {
    if (budget_ == nullptr) return;
    Context::Spend(*budget_, bytes / kBytesPerUnit);
    budget_ = nullptr;
  }

 private:
  friend PollResult<BudgetUnit> PollProceed(Context& cx);

  explicit BudgetUnit(uint64_t* budget) : budget_(budget) {}

  uint64_t* budget_;  // null if nothing is given back
};

// YieldForBudget()
//
// Yields because no budget is left, and counts as a forced yield. The poll must
// then be pending: `return YieldForBudget(cx);`.
inline PendingTag YieldForBudget(Context& cx) {
  Yielded* const yielded = cx.poll_->yielded;
  if (yielded != nullptr) yielded->by_force = true;
  cx.Yield();
  return kPending;
}

// PollProceed()
//
// Takes one unit of the budget. If no unit is left, yields and is pending. The
// unit must not outlive the poll.
inline PollResult<BudgetUnit> PollProceed(Context& cx) {
  Context::Poll& poll = *cx.poll_;
  // One comparison for both exceptions.
  if (ABSL_PREDICT_FALSE(static_cast<int64_t>(poll.budget) <= 0)) {
    if (poll.budget == 0) return YieldForBudget(cx);
    return BudgetUnit(&poll.unlimited);
  }
  --poll.budget;
  return BudgetUnit(&poll.budget);
}

// TakeUnitIfAny()
//
// Spends one unit of the budget and, for progress that moved `bytes`, a further
// unit for each `kBytesPerUnit` of them, as long as any units are left. For
// progress that was made in any case, or after `HasBudget()`.
inline void TakeUnitIfAny(Context& cx, size_t bytes = 0) {
  Context::Spend(cx.poll_->budget, 1 + bytes / kBytesPerUnit);
}

// UnconstrainedScope
//
// While the scope lives, `PollProceed(cx)` always proceeds and takes nothing.
// `Unconstrained()`, in "rouse/future/unconstrained.h", is a future with a
// scope around every poll.
class UnconstrainedScope {
 public:
  explicit UnconstrainedScope(Context& cx)
      : poll_(*cx.poll_),
        outer_(std::exchange(poll_.budget, Context::kUnlimited)) {
    poll_.unlimited = 0;
  }
  UnconstrainedScope(const UnconstrainedScope&) = delete;
  UnconstrainedScope& operator=(const UnconstrainedScope&) = delete;
  ~UnconstrainedScope() { poll_.budget = outer_; }

 private:
  Context::Poll& poll_;
  const uint64_t outer_;
};

}  // namespace rouse

#endif  // ROUSE_WAKER_CONTEXT_H_
