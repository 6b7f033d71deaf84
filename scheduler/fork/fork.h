// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork.h
// -----------------------------------------------------------------------------
//
// Runs several futures in parallel, as parts of one computation:
//
//   rouse::Co<int64_t> Sum(const Tree* tree) {
//     if (tree == nullptr) co_return 0;
//     auto [left, right] =
//         co_await rouse::Fork(Sum(tree->left), Sum(tree->right));
//     co_return tree->value + left + right;
//   }
//
// A fork costs little more than the coroutines that it awaits, because a child
// becomes a task only when another worker has nothing else to do.
// `Fork()` is for computation. To wait for several events at once, `Join()` is
// enough, and a `JoinSet` is for long-lived tasks.

#ifndef ROUSE_SCHEDULER_FORK_FORK_H_
#define ROUSE_SCHEDULER_FORK_FORK_H_

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/future.h"
#include "rouse/future/join.h"
#include "rouse/scheduler/fork/fork_child.h"
#include "rouse/scheduler/fork/fork_core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ForkFuture
//
// See `Fork()`.
template <class... Fs>
class [[nodiscard]] ForkFuture : private internal::ForkCore<ForkFuture<Fs...>> {
  using Core = internal::ForkCore<ForkFuture>;

 public:
  using Output = std::tuple<internal::JoinOutput<FutureOutput<Fs>>...>;

  explicit ForkFuture(Fs&&... futures)
      : Core(sizeof...(Fs)), children_(std::forward<Fs>(futures)...) {}
  ForkFuture(ForkFuture&&) = default;
  ForkFuture& operator=(ForkFuture&&) = delete;
  ~ForkFuture() {
    if (!Core::IsFinished()) [[unlikely]]
      Core::Cancel();
  }

  PollResult<Output> Poll(Context& cx) {
    ROUSE_TRY {
      if (!Core::PollChildren(cx)) return kPending;
    }
    ROUSE_CATCH_ALL {
      Core::Cancel();
      ROUSE_RETHROW;
    }
    Core::Finish();
    return std::apply(
        [](auto&... children) {
          return PollResult<Output>(std::in_place, TakeOutput(children)...);
        },
        children_);
  }

  // The children may be another thread's after the first poll.
  bool BorrowsClosure() const {
    return Core::IsFresh() && std::apply(
                                  [](const auto&... children) {
                                    return (children.BorrowsClosure() || ...);
                                  },
                                  children_);
  }

  void Trace(AwaitTrace& trace) const { Core::Trace(trace); }

 private:
  friend Core;

  static constexpr std::string_view kName = "Fork";

  // Returns the output of a child that has ended.
  template <class F>
  static internal::JoinOutput<FutureOutput<F>> TakeOutput(
      internal::ForkChild<F>& child) {
    if constexpr (std::is_reference_v<FutureOutput<F>>) {
      return child.output().get();
    } else {
      return std::move(child.output());
    }
  }

  static constexpr size_t size() { return sizeof...(Fs); }

  template <class Begin>
  ABSL_ATTRIBUTE_ALWAYS_INLINE void BeginChildren(Begin& begin) {
    BeginEach(begin, std::index_sequence_for<Fs...>());
  }
  template <class Begin, size_t... I>
  ABSL_ATTRIBUTE_ALWAYS_INLINE void BeginEach(Begin& begin,
                                              std::index_sequence<I...>) {
    (void)(begin(I, std::get<I>(children_)) && ...);
  }

  // Calls `f(child)` for the child `index`, and returns the result.
  template <size_t I = 0, class F>
  bool Visit(size_t index, F f) {
    if constexpr (I + 1 < sizeof...(Fs)) {
      if (index != I) return Visit<I + 1>(index, f);
    }
    return f(std::get<I>(children_));
  }

  bool PollChild(size_t index, Context& cx, bool take_back) {
    return Visit(index, [&cx, take_back](auto& child) {
      return child.Poll(cx, take_back);
    });
  }
  bool GiveChild(size_t index) {
    return Visit(index, [](auto& child) { return child.Give(); });
  }
  void CancelChildren() {
    std::apply([](auto&... children) { (children.Cancel(), ...); }, children_);
  }
  void TraceChildren(AwaitTrace::Branches& branches) const {
    std::apply(
        [&branches](const auto&... children) {
          (children.Trace(branches), ...);
        },
        children_);
  }

  std::tuple<internal::ForkChild<Fs>...> children_;
};

// Fork()
//
// Returns a future that is ready when all of `futures` are ready. The output is
// a `std::tuple` of the outputs in order, with `std::monostate` for void. An
// output that is a reference remains a reference.
//
// The children run in the poll of the fork, one after another, as calls. While
// a child runs, the children after it can be given to other workers, the last
// first: at each fork, a worker checks whether another worker of its scheduler
// has nothing to do, and if so makes a task of a child. Which children become
// tasks is therefore different in each run. A child can be given away only
// before it begins, and after that has its own task to the end.
//
// An rvalue is moved in and is destroyed as soon as it is ready. An lvalue is
// polled in place and must outlive the result. A callable that returns a future
// stands for that future, as for `Join()`. The result can be moved until its
// first poll; moving it later is a `Panic()`, and so is polling a result that
// has completed.
//
// A child can use data of the coroutine that awaits the fork, because the child
// ends before the fork. Siblings run at the same time on different threads:
// data that one child changes, and that another child or the awaiting coroutine
// uses meanwhile, is a data race without a lock or an atomic. A lock that is
// held across the `co_await` must not be needed by a child.
//
// REQUIRES: each future can be polled and destroyed on any thread, as for
// `Spawn()`. This holds for a fork in a `LocalSet` too.
//
// Waiting. A child that waits for an event waits in the task of the fork, and
// later children begin in the meantime. Each wake of the task polls all its
// children that have begun and not ended, as in a `Join()`. A child with a task
// of its own is polled only when it is woken. A fork is for computation: for
// many futures that wait, use `JoinAll()` or a `JoinSet`.
//
// Cancellation. Destroying a pending fork cancels all children, and returns
// when they have been destroyed. A child that has a task of its own is taken
// back. If another thread is in a poll of the child at this moment, the call
// blocks until that poll returns; on a worker of a multi-thread runtime, other
// threads do the worker's work in the meantime. (A poll is short if the child
// awaits, forks or consumes the budget from time to time.) If the scheduler is
// shut down, a task returns its child to the fork. A pending fork must not be
// destroyed under a lock that a child takes in its polls, even for a moment. A
// child must not destroy its own fork: that is a `Panic()` in a destructor,
// which ends the program.
//
// Exceptions. An exception of a child cancels the other children in the same
// way, and then propagates out of the poll. If several children throw, the
// others' exceptions are dropped.
//
// Budget. Children share the budget of the task that polls them. 16 children
// take a unit, so that a long computation lets other tasks run, and no child
// begins when the budget is used up.
//
// Recursion. Children of children, and so on, can be nested as deeply as memory
// allows. A fork inside 128 others, or one that finds the native stack nearly
// used up, becomes a task, whose stack is empty and whose wakes do not poll the
// outer forks. A fork that cannot, and the destruction of deeply nested forks,
// continue on a native stack made for the purpose (2 MiB of address space each;
// only the pages in use take up memory). Without memory for such a stack, a
// poll that is too deep is a `Panic()`, and a destruction that is too deep
// overflows the stack.
//
// Without other workers. On a current-thread runtime, forks become tasks only
// in deep recursion. On a thread that runs no worker, such as a thread in
// `BlockOn()`, a fork becomes a task of the thread's multi-thread runtime. Such
// a fork waits for a free worker: the thread must not hold what the workers
// wait for. A thread that has no such runtime polls all children itself, in
// order, even inside `Enter()` of a current-thread runtime.
//
// Task-local values. A child sees the values that are in force where the fork
// is polled. A child with a task of its own has copies of them, which live as
// long as the child; an output must not point to a copy. A child must not
// change a value and expect the change to be seen, or not to be seen, by
// others. Where a value is in force that cannot be copied, or whose copying
// throws, no child is given away: the fork then uses one worker. Such a task
// also has a task id of its own.
//
// Costs no allocation, and two for each child that becomes a task, with two
// more and one for each task-local value in force. If memory for these is
// lacking, the child does not become a task. A child that becomes a task costs
// about as much as a spawned task, so a fork whose children are all tiny can be
// slower beside an idle worker than alone; in a tree of forks, the worker is
// given a large part.
template <IntoFuture... Fs>
  requires(sizeof...(Fs) > 0)
ForkFuture<internal::FutureFrom<Fs>...> Fork(Fs&&... futures) {
  return ForkFuture<internal::FutureFrom<Fs>...>(
      internal::ToFuture<Fs>(futures)...);
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_FORK_FORK_H_
