// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: given_child.h
// -----------------------------------------------------------------------------
//
// The link between a fork and a child that the fork has given to other workers.
// Internal to the scheduler.
//
// A child of a fork is a future in the fork's memory. A child that is given
// away stays there, and a task polls it. The fork and the task share a
// `GivenChild`, which says whose turn it is:
//
//   state      the child belongs to   meaning
//   kNew       nobody                 the task has not polled the child yet
//   kBusy      the task               the task polls the child, or traces it
//   kAwaited   the task               as kBusy, and the fork's thread sleeps
//   kIdle      nobody                 the child waits for something
//   kEnded     the fork               the child has ended, in the task
//   kReturned  the fork               the task has nothing to do with the child
//
//   by the task    Poll()     kNew, kIdle -> kBusy, and then
//                             -> kEnded if the child has ended,
//                             -> kIdle, or kAwaited -> kReturned, if not
//                  Trace()    kNew, kIdle -> kBusy, and back as above
//                  Abandon()  kNew, kIdle -> kReturned
//   by the fork    TakeBack() kNew -> kReturned
//                  Reclaim()  kNew, kIdle -> kReturned; kBusy -> kAwaited, and
//                             sleeps until the state is another
//
// # Invariants
//
//  1. Only the thread to which the child belongs accesses the child.
//  2. kEnded and kReturned are final. The task does not touch the fork's memory
//     after either, so the fork may then be destroyed.
//  3. A task without a child ends: it is in a queue in kNew, and the fork wakes
//     it when taking back the child in kIdle.
//
// # Why destroying a fork cannot deadlock
//
// Apart from locks of the program, which fork.h speaks about: the thread in
// `Reclaim()` sleeps only while another thread is inside a poll of the child,
// on that thread's native stack. It does not matter where the child's task is
// queued. Such a sleep is the only one here. Therefore a cycle of sleeping
// threads would consist of threads each of which destroys a fork inside a poll
// of a child of the next thread's fork. Then some fork would lie inside itself,
// directly or through other forks. Directly, that is an error of the program,
// which `ReclaimFromTask()` reports (fork_child.h).

#ifndef ROUSE_SCHEDULER_FORK_GIVEN_CHILD_H_
#define ROUSE_SCHEDULER_FORK_GIVEN_CHILD_H_

#include <cstddef>
#include <cstdint>
#include <exception>

#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/task_local.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// A child of a fork, independent of the type of its future.
struct ForkChildRef {
  void* child = nullptr;
  // Polls the child, and returns whether the child has ended.
  bool (*poll)(void* child, Context& cx) = nullptr;
  void (*trace)(const void* child, AwaitTrace& trace) = nullptr;
};

// GivenChild
//
// Owned by its fork and its task together. The functions are called by one of
// the two, and by one thread at a time for each.
class GivenChild {
 public:
  // Makes an object with two references, and with copies of the task-local
  // values in force, which live until both are dropped: the child may have
  // pointers to the copies. Copying a value may throw.
  explicit GivenChild(const ForkChildRef& child) : child_(child) {}
  GivenChild(const GivenChild&) = delete;
  GivenChild& operator=(const GivenChild&) = delete;

#ifndef ROUSE_MODEL  // in models the pool's steps would multiply the steps
  static void* operator new(size_t size);
  static void operator delete(void* object, size_t size);
#endif

  // Drops the reference of the fork or of the task.
  void Unref();

  // ---- For the task.

  // Returns the innermost of the copies of the task-local values.
  const TaskLocalLink* Locals() { return locals_.Innermost(); }
  // Polls the child if it is not the fork's. Returns whether the task has
  // nothing left to do. Keeps an exception of the child for the fork.
  bool Poll(Context& cx);
  // Adds the child's steps, if the child is not the fork's.
  void Trace(AwaitTrace& trace);
  // Returns the child to the fork, because the task ends without having polled
  // the child to its end.
  void Abandon();

  // ---- For the fork.

  enum class Progress : unsigned char {
    kRuns,      // the task runs the child
    kEnded,     // the child has ended
    kReturned,  // the fork must poll the child itself
  };
  // Returns the child's progress. If the child runs, arranges for `waker` to be
  // called when that changes.
  Progress Check(const Waker& waker);
  // Takes the child back unless the task has ever begun to poll it. Returns
  // whether the fork must poll the child itself.
  bool TakeBack();
  // Takes the child back. Blocks while another thread polls the child, and
  // calls `before_sleep` once before that.
  // REQUIRES: the calling thread does not poll the child.
  void Reclaim(absl::FunctionRef<void()> before_sleep);
  // Returns the exception that has ended the child, or null.
  // REQUIRES: the child has ended.
  std::exception_ptr& exception() { return exception_; }

 private:
  enum State : uint32_t { kNew, kBusy, kAwaited, kIdle, kEnded, kReturned };

  // Begins a use of the child by the task. Returns the state before, or
  // kReturned or kEnded if the child is the fork's.
  State Begin();
  // Ends a use after which the child has not ended. The state is then `state`,
  // unless the fork waits for the child, which is then the fork's. Returns
  // whether this is so.
  bool End(State state);

  const ForkChildRef child_;
  InheritedTaskLocals locals_;
  Atomic<uint32_t> references_{2};
  Atomic<uint32_t> state_{kNew};
  // Wakes the fork's task.
  AtomicWaker waker_;
  // Wakes the child's task, which must end when the fork has taken the child
  // back. Empty unless the child waits for something. Like the child, belongs
  // to one thread at a time.
  Cell<Waker> task_waker_;
  std::exception_ptr exception_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SCHEDULER_FORK_GIVEN_CHILD_H_
