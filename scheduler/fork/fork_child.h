// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork_child.h
// -----------------------------------------------------------------------------
//
// A child of a fork: a future that the fork's thread polls, unless the child
// has been given to other workers. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_FORK_FORK_CHILD_H_
#define ROUSE_SCHEDULER_FORK_FORK_CHILD_H_

#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_item.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/scheduler/fork/given_child.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// Makes a task of `child`. Returns null if there is no scheduler, memory is
// lacking, or a task-local value in force cannot be copied.
GivenChild* GiveToTask(const ForkChildRef& child);

// Takes `given` from its task if the child has ended or the task has gone, or,
// if `take_back`, if the task has not begun. Returns whether the child is the
// fork's, and otherwise arranges for the waker of `cx` to be called. If the
// child has ended, drops the fork's reference, and `given` becomes null.
// Otherwise the reference must be dropped after the end of the child. Throws
// the exception of a child that has ended with an exception.
bool TakeFromTask(GivenChild*& given, Context& cx, bool take_back);

// Takes `given` from its task, and blocks while another thread polls the child.
// The fork's reference must be dropped after the child has been destroyed.
// Panics if the calling thread polls the child.
void ReclaimFromTask(GivenChild& given);

// Adds the leaf that stands for a child `name` that has a task of its own.
struct ElsewhereTrace {
  void Trace(AwaitTrace& trace) const {
    trace.AddLeaf(name, "in a task of its own");
  }
  std::string_view name;
};

template <class F>
inline constexpr bool kIsCo = false;
template <class T>
inline constexpr bool kIsCo<Co<T>> = true;

// ForkChild
//
// `F` is as deduced for the argument `F&&`. Keeps the output once the future is
// ready; a future that was moved in has then been destroyed.
//
// A child can be moved before its first poll. While a child is given away,
// `PollInTask()` belongs to the task, and the other functions must not be
// called, except `Poll()`, `Trace()` and `Cancel()`.
template <class F>
class ForkChild {
 public:
  using Item = ChildItem<FutureOutput<F>>;

  explicit ForkChild(F&& future) : future_(std::forward<F>(future)) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as that of `F`
  ForkChild(ForkChild&& other) : future_(std::move(other.future_)) {
    ABSL_ASSERT(other.given_ == nullptr && other.stage_ == Stage::kFuture);
  }
  ForkChild& operator=(ForkChild&&) = delete;
  ~ForkChild() {
    ABSL_ASSERT(given_ == nullptr);
    // Usually in a fork that has been moved from.
    if (stage_ == Stage::kFuture) [[unlikely]]
      std::destroy_at(&future_);
    if constexpr (!std::is_trivially_destructible_v<Item>) {
      if (stage_ == Stage::kOutput) std::destroy_at(&output_);
    }
  }

  // Does the first poll of a child that has not been given away, like `Poll()`.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Begin(Context& cx) {
    return PollFuture(cx);
  }

  // Returns whether the child has ended. Polls the child if it is the fork's,
  // or, if `take_back`, has been given away but has not begun.
  bool Poll(Context& cx, bool take_back) {
    if (given_ != nullptr) [[unlikely]] {
      if (!is_returned_ && !TakeFromTask(given_, cx, take_back)) return false;
      is_returned_ = given_ != nullptr;
    }
    if (!PollHere(cx)) return false;
    DropGiven();
    return true;
  }

  // Gives the child, which has not been polled, to other workers. Returns false
  // if that is not possible.
  bool Give() {
    given_ = GiveToTask({this, &PollInTask, &TraceInTask});
    return given_ != nullptr;
  }

  // Destroys the future or the output. Waits for the end of the poll if another
  // thread polls the child.
  void Cancel() {
    if (given_ != nullptr && !is_returned_) ReclaimFromTask(*given_);
    Clear();
    DropGiven();
  }

  // Returns the output.
  // REQUIRES: the child has ended.
  Item& output() {
    ABSL_ASSERT(stage_ == Stage::kOutput);
    return output_;
  }

  void Trace(AwaitTrace::Branches& branches) const {
    if (given_ != nullptr && !is_returned_) {
      branches.Add(ElsewhereTrace{TypeName<F>()});
    } else {
      TraceHere(branches);
    }
  }

  bool BorrowsClosure() const {
    return stage_ == Stage::kFuture && internal::BorrowsClosure(future_.get());
  }

 private:
  struct DestroyFrame {
    template <class Promise>
    void operator()(Promise* frame) const {
      frame->Destroy();
    }
  };

  enum class Stage : unsigned char { kFuture, kOutput, kNone };

  static bool PollInTask(void* child, Context& cx) {
    return static_cast<ForkChild*>(child)->PollHere(cx);
  }
  static void TraceInTask(const void* child, AwaitTrace& trace) {
    AwaitTrace::Branches branches(trace, "child of a fork");
    static_cast<const ForkChild*>(child)->TraceHere(branches);
  }

  // Not inlined, unlike the first poll.
  ABSL_ATTRIBUTE_NOINLINE bool PollHere(Context& cx) {
    return stage_ != Stage::kFuture || PollFuture(cx);
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollFuture(Context& cx) {
    if constexpr (kIsCo<F>) {
      return PollCo(future_.get(), cx);
    } else {
      PollResult<FutureOutput<F>> result = future_.get().Poll(cx);
      if (result.IsPending()) return false;
      std::destroy_at(&future_);
      // Stays so if moving the output throws.
      stage_ = Stage::kNone;
      ::new (static_cast<void*>(&output_)) Item(ToChildItem(std::move(result)));
      stage_ = Stage::kOutput;
      return true;
    }
  }

  // Like the general case above, without a result between the coroutine's frame
  // and the output. The fork has checked that the stack has room.
  template <class T>
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollCo(Co<T>& co, Context& cx) {
    if (!co.PollInPlace(cx)) return false;
    using Promise = typename Co<T>::promise_type;
    const std::unique_ptr<Promise, DestroyFrame> done(&co.TakeFrame());
    std::destroy_at(&future_);
    stage_ = Stage::kNone;
    if constexpr (std::is_void_v<T>) {
      done->Take();
      std::construct_at(&output_);
    } else {
      std::construct_at(&output_, done->Take());
    }
    stage_ = Stage::kOutput;
    return true;
  }

  void TraceHere(AwaitTrace::Branches& branches) const {
    if (stage_ == Stage::kFuture) branches.Add(future_.get());
  }

  void DropGiven() {
    if (given_ != nullptr) std::exchange(given_, nullptr)->Unref();
  }

  void Clear() {
    const Stage before = std::exchange(stage_, Stage::kNone);
    if (before == Stage::kFuture) std::destroy_at(&future_);
    if (before == Stage::kOutput) std::destroy_at(&output_);
  }

  // Null unless the child has been given away and has not ended.
  GivenChild* given_ = nullptr;
  // The child that was given away is the fork's again.
  bool is_returned_ = false;
  Stage stage_ = Stage::kFuture;
  union {
    OwnedOrRef<F> future_;
    Item output_;
  };
};

}  // namespace rouse::internal

#endif  // ROUSE_SCHEDULER_FORK_FORK_CHILD_H_
