// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork_stack.h
// -----------------------------------------------------------------------------
//
// The children that the forks on a thread's native stack have not begun yet.
// Internal to the scheduler.
//
// A fork polls its children one after another, as calls. While it does, its
// `ForkGroup` says which children have not begun, and is in the `ForkStack` of
// the thread. A fork inside a child puts its group above, and removes it before
// the child's poll returns. Therefore the groups form a stack, and the lowest
// group has the largest part of the work.
//
//   newest   Fork in the child of the child     2 has not begun
//            Fork in the child                  2 has not begun
//   oldest   the task's fork                    2, 3, 4 have not begun
//
// The stack belongs to its thread alone, and an operation is a few stores. At
// each fork the thread checks whether another worker has nothing to do, which
// is a load. If so, the thread gives away the last child of the oldest group,
// for which it makes a task. The cost of a task is therefore paid for each
// child that changes threads, and not for each fork.
//
// The same rule governs private tasks: a worker gives others what they need
// when it notices that they need it, at its next fork as between two polls
// (run_queues.h). A worker that goes to sleep at the same moment misses nothing
// that is queued, because children on this stack are part of a running poll.
//
// The stack also counts the forks. A wake of a task polls every fork on the way
// to the future that was woken, like any futures that poll one another, and so
// does a poll after one that has used up its budget. Therefore a task polls at
// most `kMostNested` forks inside one another, and a fork inside these is given
// to a task as a whole: a wake costs the same at any depth of the recursion.

#ifndef ROUSE_SCHEDULER_FORK_FORK_STACK_H_
#define ROUSE_SCHEDULER_FORK_FORK_STACK_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>

#include "absl/base/macros.h"
#include "rouse/future/task_local.h"
#include "rouse/scheduler/queue/idle.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

class ForkStack;

// ForkGroup
//
// The children of one fork, from the point of view of its thread. The children
// before `next` have begun here, the children from `next` to `end` have not
// begun, and the children from `end` on have been given away. The group is in a
// `ForkStack` only during a poll, and only while a child has not begun.
class ForkGroup {
 public:
  ForkGroup(const ForkGroup&) = delete;
  ForkGroup& operator=(const ForkGroup&) = delete;

 protected:
  // Makes a task of the child `end - 1`, and takes the child out of the group.
  // If that is not possible, does nothing and returns false.
  using GiveLast = bool (*)(ForkGroup& group);

  explicit ForkGroup(size_t size) : end(size) {}
  ~ForkGroup() = default;

  // Returns whether all children have begun, or have been given away.
  bool IsEmpty() const { return next == end; }

  size_t next = 0;
  size_t end;

 private:
  friend class ForkStack;

  // The following members are set by the `ForkStack`.
  ForkGroup* older_;
  ForkGroup* newer_;
  GiveLast give_last_;
  // The task-local values in force where the children are polled.
  const TaskLocalLink* locals_;
};

// ForkStack
//
// Used by one thread, for the polls of one worker.
class ForkStack {
 public:
  // Number of children that cost a unit of the budget. A poll then begins at
  // most 2048 children, which takes some tens of microseconds if the children
  // do next to nothing.
  static constexpr uint32_t kChildrenPerUnit = 16;

  // Number of forks inside one another that a task polls, so that a wake takes
  // some microseconds. A recursion that divides its work is not as deep. In one
  // that is, a task for each 128 forks slows a fork by some nanoseconds.
  static constexpr uint32_t kMostNested = 128;

  // `idle` outlives the stack. The constructor must run on the thread.
  explicit ForkStack(const scheduler::Idle& idle)
      : idle_(idle), locals_(CurrentTaskLocalsPlace()) {}
  ForkStack(const ForkStack&) = delete;
  ForkStack& operator=(const ForkStack&) = delete;

  // Puts `group`, which is not empty, on top.
  void Push(ForkGroup& group, ForkGroup::GiveLast give_last) {
    group.older_ = newest_;
    group.give_last_ = give_last;
    group.locals_ = *locals_;
    newest_->newer_ = &group;
    newest_ = &group;
  }
  // Removes `group`, which is on top.
  void Pop(const ForkGroup& group) {
    ABSL_ASSERT(newest_ == &group);
    newest_ = group.older_;
  }

  // Counts a fork while its children are polled.
  void Enter() { ++nested_; }
  void Leave() { --nested_; }
  // Returns whether a further fork may begin inside those that are polled.
  bool HasRoom() const { return nested_ < kMostNested; }

  // Gives children away if another worker has nothing to do.
  void Share() {
    if (idle_.HasIdle()) [[unlikely]]
      ShareNow();
  }
  // Gives all children away.
  void ShareAll() {
    while (newest_ != &base_ && GiveOldest()) {
    }
  }

  // Counts a child that begins. Some children take a unit of the budget.
  void CountChild(Context& cx) {
    if (--children_left_ != 0) [[likely]]
      return;
    children_left_ = kChildrenPerUnit;
    TakeUnitIfAny(cx);
  }

 protected:
  ~ForkStack() { ABSL_ASSERT(newest_ == &base_); }

  // Returns whether the thread's worker should give more tasks to others, who
  // have nothing to do.
  virtual bool OthersNeedMore() const = 0;

 private:
  // Lies below the oldest group.
  class Base final : public ForkGroup {
   public:
    Base() : ForkGroup(0) {}
  };

  // Not inlined: forks are parts of coroutines, for whose code the compiler
  // might keep the addresses of thread-local variables.
  void ShareNow();
  // Gives away a child of the oldest group, if there is one and that is
  // possible. Returns whether it has.
  bool GiveOldest();

  const scheduler::Idle& idle_;
  // The thread's variable.
  const TaskLocalLink* const* const locals_;
  Base base_;
  ForkGroup* newest_ = &base_;
  uint32_t nested_ = 0;
  // Number of children until one takes a unit of the budget.
  uint32_t children_left_ = kChildrenPerUnit;
};

}  // namespace rouse::internal

#endif  // ROUSE_SCHEDULER_FORK_FORK_STACK_H_
