// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork_core.h
// -----------------------------------------------------------------------------
//
// Polls the children of a fork. Internal to the scheduler.

#ifndef ROUSE_SCHEDULER_FORK_FORK_CORE_H_
#define ROUSE_SCHEDULER_FORK_FORK_CORE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/fresh_stack.h"
#include "rouse/base/stack_room.h"
#include "rouse/future/await_trace.h"
#include "rouse/scheduler/fork/fork_child.h"
#include "rouse/scheduler/fork/fork_stack.h"
#include "rouse/scheduler/fork/given_child.h"
#include "rouse/scheduler/worker.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// ForkPlace
//
// Where a thread can poll the children of a fork.
enum class ForkPlace : unsigned char {
  kWorker,     // here: the thread runs a worker
  kTooDeep,    // in a task of the thread's worker, because this task polls many
               // forks inside one another, or its stack is nearly used up
  kElsewhere,  // in a task of the thread's scheduler, which others run
  kAlone,      // here: there is no scheduler, or perhaps nobody runs it
};

ForkPlace CurrentForkPlace();

// Counts a child that begins where there is no `ForkStack`.
void CountChildWithoutStack(Context& cx);

// Calls `f()`, on a fresh stack if the thread's stack is nearly used up.
void RunWithStackRoom(absl::FunctionRef<void()> f);

[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicForkFinished(std::string_view name);
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicForkMoved(std::string_view name);
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicForkTooDeep(std::string_view name);

// ForkCore
//
// `Derived` has the children, and the members
//
//   // The name for users, such as "Fork".
//   static constexpr std::string_view kName;
//   // The number of children.
//   size_t size() const;
//   // Calls `begin(index, child)` for each `ForkChild` in order, until a call
//   // returns false.
//   void BeginChildren(auto& begin);
//   // Calls `ForkChild::Poll()` or `ForkChild::Give()` of a child.
//   bool PollChild(size_t index, Context& cx, bool take_back);
//   bool GiveChild(size_t index);
//   // Calls `ForkChild::Cancel()` of all children.
//   void CancelChildren();
//   // Calls `ForkChild::Trace()` of all children.
//   void TraceChildren(AwaitTrace::Branches& branches) const;
//
// and calls `Finish()` or `Cancel()` before the children are destroyed.
//
// Can be moved before the first poll. Moving it later is a panic.
//
// # Where the children are polled
//
// On a worker, children are polled as calls, and the `ForkStack` of the thread
// offers those that have not begun to others. Where that is not possible
// (`kTooDeep`, `kElsewhere`), the fork as a whole becomes a child that is
// given away: a task polls the fork's children, as a worker does. If memory for
// the task is lacking, or the scheduler has been closed, the children are
// polled here after all, on a fresh stack if necessary.
template <class Derived>
class ForkCore : private ForkGroup {
 public:
  ForkCore& operator=(ForkCore&&) = delete;

 protected:
  explicit ForkCore(size_t size) : ForkGroup(size), tail_(size) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  ForkCore(ForkCore&& other) : ForkCore(other.end) {
    if (other.state_ != State::kFresh) [[unlikely]]
      PanicForkMoved(Derived::kName);
    // Nobody polls `other`, and its destructor has nothing to do but to destroy
    // what is left of the children.
    other.state_ = State::kFinished;
  }
  ~ForkCore() = default;

  // Polls the children. Returns whether all have ended.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool PollChildren(Context& cx) {
    if (state_ != State::kFresh || self().size() == 0) [[unlikely]]
      return PollAgain(cx);
    ForkStack* const forks = scheduler::Worker::CurrentForksIfRoom();
    if (forks == nullptr) [[unlikely]]
      return PollAgain(cx);
    state_ = State::kBegun;
    if (!cx.HasBudget()) [[unlikely]]
      return Yield(cx);
    next = 1;
    const Polling polling(*forks, *this);
    Begin begin(polling, cx);
    self().BeginChildren(begin);
    if (end < tail_) [[unlikely]] {
      if (!PollGiven(cx)) return false;
    }
    return begin.all_ended();
  }

  bool IsFresh() const { return state_ == State::kFresh; }
  bool IsFinished() const { return state_ == State::kFinished; }
  // Called when all children have ended.
  void Finish() { state_ = State::kFinished; }
  // Destroys the children, after waiting for the end of the polls in which
  // other threads use them. Does nothing if the fork is finished.
  ABSL_ATTRIBUTE_NOINLINE void Cancel();

  void Trace(AwaitTrace& trace) const;

 private:
  enum class State : unsigned char {
    kFresh,     // has not been polled
    kBegun,     // the children are polled here
    kGiven,     // the fork as a whole has been given away
    kReturned,  // as kBegun, after having been given away as a whole
    kFinished,  // the children have ended, or have been destroyed
  };

  // Number of polls without budget after which a child begins in any case:
  // otherwise a child that never ends could keep the next from beginning. Each
  // poll takes some microseconds at least. The number is large because a long
  // computation would otherwise go through its tree breadth-first.
  static constexpr uint32_t kMostPassedOver = 65536;

  // Counts the fork and offers its children that have not begun, during a poll
  // on a worker.
  class Polling {
   public:
    ABSL_ATTRIBUTE_ALWAYS_INLINE Polling(ForkStack& forks, ForkCore& core)
        : forks_(forks), core_(core) {
      forks_.Enter();
      if (core_.IsEmpty()) return;
      forks_.Push(core_, &GiveLastOf);
      forks_.Share();
    }
    Polling(const Polling&) = delete;
    Polling& operator=(const Polling&) = delete;
    ABSL_ATTRIBUTE_ALWAYS_INLINE ~Polling() {
      forks_.Leave();
      if (!core_.IsEmpty()) [[unlikely]]
        forks_.Pop(core_);
    }

    // Called when the first child begins, which is never offered.
    ABSL_ATTRIBUTE_ALWAYS_INLINE void BeginFirst(Context& cx) const {
      forks_.CountChild(cx);
    }
    // Called when the child `next` begins, which is then no longer offered.
    // `next` is a parameter because it can be a constant.
    ABSL_ATTRIBUTE_ALWAYS_INLINE void BeginNext(size_t next,
                                                Context& cx) const {
      core_.next = next + 1;
      if (core_.IsEmpty()) {
        forks_.Pop(core_);
      } else {
        forks_.Share();
      }
      forks_.CountChild(cx);
    }

    // Returns whether another child can begin here.
    bool HasNext(size_t next) const { return next != core_.end; }

   private:
    ForkStack& forks_;
    ForkCore& core_;
  };

  // Begins the children in the first poll of a fork. For a `Fork()`, `index` is
  // a constant.
  class Begin {
   public:
    Begin(const Polling& polling, Context& cx) : polling_(polling), cx_(cx) {}

    template <class Child>
    ABSL_ATTRIBUTE_ALWAYS_INLINE bool operator()(size_t index, Child& child) {
      if (index == 0) {
        polling_.BeginFirst(cx_);
      } else {
        // Otherwise the children from `index` on have been given away.
        if (!polling_.HasNext(index)) return false;
        if (!cx_.HasBudget()) [[unlikely]] {
          all_ended_ = Yield(cx_);
          return false;
        }
        polling_.BeginNext(index, cx_);
      }
      if (!child.Begin(cx_)) all_ended_ = false;
      return true;
    }

    // Returns whether all children that have begun have ended, and no child
    // lacked the budget.
    bool all_ended() const { return all_ended_; }

   private:
    const Polling& polling_;
    Context& cx_;
    bool all_ended_ = true;
  };

  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }

  static bool GiveLastOf(ForkGroup& group) {
    auto& core = static_cast<ForkCore&>(group);
    if (!core.self().GiveChild(core.end - 1)) return false;
    --core.end;
    return true;
  }

  // For the task to which the fork as a whole was given.
  static bool PollInTask(void* core, Context& cx) {
    return static_cast<ForkCore*>(core)->PollHere(cx);
  }
  static void TraceInTask(const void* core, AwaitTrace& trace) {
    static_cast<const ForkCore*>(core)->TraceHere(trace);
  }

  static bool Yield(Context& cx) {
    YieldForBudget(cx);
    return false;
  }

  // Polls the children in all cases other than the first poll on a worker.
  ABSL_ATTRIBUTE_NOINLINE bool PollAgain(Context& cx);
  // Polls the children, which are not given away as a whole or belong to the
  // calling task.
  bool PollHere(Context& cx);
  bool PollWithRoom(Context& cx);
  // Polls the children that have begun here, or were given away. Returns
  // whether all of these have ended.
  bool PollBegun(Context& cx);
  ABSL_ATTRIBUTE_NOINLINE bool PollGiven(Context& cx);

  // Not inlined, because a coroutine might keep the address of a thread-local
  // variable while the coroutine moves to another thread.
  ABSL_ATTRIBUTE_NOINLINE void TraceHere(AwaitTrace& trace) const;

  // Belongs to the owner of the fork, as `given_` does. The other members, and
  // those of the `ForkGroup`, belong to the task in state kGiven.
  State state_ = State::kFresh;
  // Number of polls that had no budget for the next child, since a child was
  // last begun for this reason.
  uint32_t passed_over_ = 0;
  // The children before `head_` have ended, and so have those from `tail_` on.
  size_t head_ = 0;
  size_t tail_;
  // Number of the child with which the next poll begins, among those that have
  // begun, so that each child in turn is the first to take from the budget.
  size_t first_ = 0;
  // The fork as a whole. Set in the states kGiven and kReturned.
  GivenChild* given_;
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class Derived>
bool ForkCore<Derived>::PollAgain(Context& cx) {
  if (state_ == State::kFinished) PanicForkFinished(Derived::kName);
  if (self().size() == 0) return true;
  const ForkPlace place = CurrentForkPlace();
  const bool is_here =
      place == ForkPlace::kWorker || place == ForkPlace::kAlone;
  if (state_ == State::kFresh) {
    state_ = State::kBegun;
    if (!is_here) {
      given_ = GiveToTask({this, &PollInTask, &TraceInTask});
      if (given_ != nullptr) state_ = State::kGiven;
    }
  }
  if (state_ == State::kGiven) {
    if (!TakeFromTask(given_, cx, /*take_back=*/is_here)) return false;
    state_ = given_ != nullptr ? State::kReturned : State::kBegun;
  }
  if (!PollHere(cx)) return false;
  if (state_ == State::kReturned) given_->Unref();
  state_ = State::kBegun;
  return true;
}

template <class Derived>
bool ForkCore<Derived>::PollHere(Context& cx) {
  if (!HasAmpleStackRoom()) {
    bool all = false;
    if (RunOnFreshStack([this, &cx, &all] { all = PollWithRoom(cx); })) {
      return all;
    }
    if (!HasStackRoom()) PanicForkTooDeep(Derived::kName);
  }
  return PollWithRoom(cx);
}

template <class Derived>
bool ForkCore<Derived>::PollWithRoom(Context& cx) {
  bool must_begin = false;
  if (passed_over_ >= kMostPassedOver) {
    passed_over_ = 0;
    // Preferably in a task of its own.
    must_begin = !IsEmpty() && !GiveLastOf(*this);
  }
  std::optional<Polling> polling;
  if (ForkStack* const forks = scheduler::Worker::CurrentForks()) {
    polling.emplace(*forks, *this);
  }
  bool all = PollBegun(cx);
  while (!IsEmpty()) {
    if (!cx.HasBudget() && !std::exchange(must_begin, false)) {
      ++passed_over_;
      // A child that was given away may have thrown.
      PollGiven(cx);
      return Yield(cx);
    }
    const size_t index = next;
    if (polling.has_value()) {
      polling->BeginNext(index, cx);
    } else {
      CountChildWithoutStack(cx);
      next = index + 1;
    }
    if (!self().PollChild(index, cx, /*take_back=*/false)) all = false;
  }
  return PollGiven(cx) && all;
}

template <class Derived>
bool ForkCore<Derived>::PollBegun(Context& cx) {
  const size_t begun = next - head_;
  if (++first_ >= begun) first_ = 0;
  size_t head = next;
  for (size_t i = 0; i < begun; ++i) {
    const size_t index =
        head_ + (first_ + i < begun ? first_ + i : first_ + i - begun);
    if (!self().PollChild(index, cx, /*take_back=*/false)) {
      head = std::min(head, index);
    }
  }
  const bool all = head == head_ + begun;
  head_ = head;
  return all;
}

template <class Derived>
bool ForkCore<Derived>::PollGiven(Context& cx) {
  size_t tail = end;
  for (size_t i = end; i < tail_; ++i) {
    // A child that nobody has begun is polled here.
    if (!self().PollChild(i, cx, /*take_back=*/true)) tail = i + 1;
  }
  tail_ = tail;
  return tail == end;
}

template <class Derived>
void ForkCore<Derived>::Cancel() {
  // Null after the rethrow of a child's exception.
  if (state_ == State::kGiven && given_ != nullptr) ReclaimFromTask(*given_);
  const State before = std::exchange(state_, State::kFinished);
  if (before == State::kFinished) return;
  RunWithStackRoom([this] { self().CancelChildren(); });
  if ((before == State::kGiven || before == State::kReturned) &&
      given_ != nullptr) {
    given_->Unref();
  }
}

template <class Derived>
void ForkCore<Derived>::Trace(AwaitTrace& trace) const {
  if (state_ == State::kGiven) {
    trace.AddLeaf(Derived::kName, "in a task of its own");
  } else if (state_ == State::kFinished) {
    trace.AddLeaf(Derived::kName, "finished");
  } else {
    TraceHere(trace);
  }
}

template <class Derived>
void ForkCore<Derived>::TraceHere(AwaitTrace& trace) const {
  // Forks can be nested more deeply than a stack allows.
  if (!HasAmpleStackRoom()) {
    return trace.AddLeaf(Derived::kName, "nested too deeply to be shown");
  }
  AwaitTrace::Branches branches(trace, Derived::kName);
  self().TraceChildren(branches);
}

}  // namespace rouse::internal

#endif  // ROUSE_SCHEDULER_FORK_FORK_CORE_H_
