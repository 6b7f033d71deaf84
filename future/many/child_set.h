// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: child_set.h
// -----------------------------------------------------------------------------
//
// Holds futures of one type, and polls only the futures that were woken.
// Internal: `FuturesUnordered`, `FuturesOrdered` and `JoinAll` are built on it,
// and, with futures that stay in the set (stream_child.h), `MergeAll` and
// `StreamMap`.

#ifndef ROUSE_FUTURE_MANY_CHILD_SET_H_
#define ROUSE_FUTURE_MANY_CHILD_SET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/mutable_step.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_item.h"  // IWYU pragma: export
#include "rouse/future/many/ready_list.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

// ChildSet
//
// Used by one task at a time. Only the wakers of the children are thread-safe.
// A set allocates once for itself, and once for each child. The children are
// destroyed on the thread that uses the set, whatever becomes of their wakers.
template <Future F>
class ChildSet {
  using Output = FutureOutput<F>;
  class Child;

 public:
  // Names a child from `Add()` on until the child is removed.
  using Handle = Child*;

  ChildSet() = default;
  ChildSet(ChildSet&& other) noexcept
      : list_(std::exchange(other.list_, nullptr)),
        children_(std::move(other.children_)),
        size_(std::exchange(other.size_, 0)),
        round_(other.round_),
        is_awaited_(std::exchange(other.is_awaited_, false)) {}
  ChildSet& operator=(ChildSet&& other) noexcept {
    ChildSet taken(std::move(other));
    Clear();
    std::swap(list_, taken.list_);
    children_ = std::move(taken.children_);
    std::swap(size_, taken.size_);
    round_ = taken.round_;
    is_awaited_ = taken.is_awaited_;
    return *this;
  }
  ~ChildSet() { Clear(); }

  size_t size() const { return size_; }

  // Adds `future`, to be polled by the next `Poll()`, which names it by `key`.
  // Wakes the task of a pending `Poll()`. If the waker throws, the future is in
  // the set.
  void Add(F&& future, size_t key) {
    AddWithoutWake(std::move(future), key);
    WakeForAdded();
  }

  // The two halves of `Add()`.
  Handle AddWithoutWake(F&& future, size_t key) {
    if (list_ == nullptr) list_ = new ReadyList;
    auto* const child = new Child(list_, std::move(future), key, round_);
    children_.PushBack(child);
    ++size_;
    list_->Push(child);
    return child;
  }
  void WakeForAdded() {
    // Otherwise the next `Poll()` finds the child. A wake would have the task
    // polled once more for nothing.
    if (is_awaited_) list_->Wake();
  }

  // Returns the future of a child.
  static F& Get(Handle child) { return *child->future; }

  // Destroys the future of a child, and removes the child. Wakes the task of a
  // pending `Poll()` if no child is left, and drops exceptions from the waker.
  // The memory of a child that was woken is freed by the next `Poll()`. O(1).
  void Erase(Handle child) noexcept {
    Remove(child);
    if (size_ > 0 || !is_awaited_) return;
    ROUSE_TRY { list_->Wake(); }
    ROUSE_CATCH_ALL {}
  }

  // Polls the children that were woken since they were last polled, each once.
  // A child that is woken again, or was added, during the call is polled by the
  // next call, for which the task is woken.
  //
  // Removes and destroys each child that is ready, and then calls
  // `take(key, PollResult<Output>&&)`. If `take` returns true, ends, and is
  // ready with true. Is ready with false if the set is empty.
  // O(number of woken children).
  //
  // A child that stays in the set is not removed before it has ended, and comes
  // last among the children that the next `Poll()` polls. For its outputs,
  // `take` must return true until then, because the task is not woken for it.
  //
  // An exception from a child passes on. The child is removed, and `take` is
  // called with a pending result.
  template <class Take>
  PollResult<bool> Poll(Context& cx, Take take) {
    if (size_ == 0) {
      if (list_ != nullptr) PopLive();  // frees children that were erased
      return false;
    }
    // A wake from here on wakes the task.
    is_awaited_ = true;
    ROUSE_MUTABLE_CALL(list_->Register(cx.waker()));
    ++round_;
    while (Child* const child = PopLive()) {
      if (MutableCondition(child->round == round_)) {
        // This child, and therefore each child behind it, was woken after the
        // registration, so the task polls again.
        list_->PutBack(child);
        return kPending;
      }
      if (!cx.HasBudget()) {
        list_->PutBack(child);
        return YieldForBudget(cx);
      }
      child->round = round_;
      ReadyList::Rearm(child);
      if (PollChild(child, cx, take)) {
        is_awaited_ = false;
        return true;
      }
    }
    if (size_ == 0) return false;
    return kPending;
  }

  // Destroys all children, and the children that their destructors add.
  void Clear() { DestroyAll().Reset(); }

  // Like `Clear()`, and wakes the task of a pending `Poll()`, which may have
  // nothing to wait for any more. Drops exceptions from the waker.
  void ClearAndWake() noexcept {
    ROUSE_TRY { DestroyAll().Wake(); }
    ROUSE_CATCH_ALL {}
  }

  bool BorrowsClosure() const {
    bool borrows = false;
    children_.ForEach([&borrows](const Child* child) {
      borrows = borrows || (child->future.has_value() &&
                            internal::BorrowsClosure(*child->future));
    });
    return borrows;
  }

  // Adds a branch for each child.
  void Trace(AwaitTrace::Branches& branches) const {
    children_.ForEach([&branches](const Child* child) {
      if (child->future.has_value()) branches.Add(*child->future);
    });
  }

 private:
  class Child final : public ReadyEntry, public IntrusiveListNode<> {
   public:
    static_assert(alignof(F) <= FramePool::kAlignment,
                  "a future in a set is aligned to 16 bytes: store a future of "
                  "larger alignment behind a pointer");

    Child(ReadyList* list, F&& future, size_t key, uint64_t round)
        : ReadyEntry(list), key(key), round(round), future(std::move(future)) {}

#ifndef ROUSE_MODEL  // in models the pool's steps would multiply the set's
    static void* operator new(size_t size) { return FramePool::Allocate(size); }
    static void operator delete(void* child, size_t size) {
      FramePool::Free(child, size);
    }
#endif

    const size_t key;
    uint64_t round;           // in which the child was last polled, or added
    std::optional<F> future;  // empty once the child was removed

   private:
    ~Child() override = default;
  };

  // Returns whether the child was ready, and `take` has returned true.
  template <class Take>
  bool PollChild(Child* child, Context& cx, Take& take) {
    PollResult<Output> output = PollOrRemove(child, cx, take);
    if (output.IsPending()) return false;
    if constexpr (kStaysInSet<F>) {
      if (!child->future->HasEnded()) {
        // The list may already have the child, because of a wake.
        list_->Push(child);
        return take(child->key, std::move(output));
      }
    }
    return take(Remove(child), std::move(output));
  }

  // Polls `child`. If the child throws, removes the child.
  template <class Take>
  PollResult<Output> PollOrRemove(Child* child, Context& cx, Take& take) {
    const BorrowedWaker waker(child->raw_waker());
    Context of_child(waker.get(), cx);
    ROUSE_TRY { return child->future->Poll(of_child); }
    ROUSE_CATCH_ALL {
      take(Remove(child), PollResult<Output>(kPending));
      ROUSE_RETHROW;
    }
  }

  // Returns the next woken child that was not removed, or null.
  Child* PopLive() {
    for (;;) {
      auto* const child = static_cast<Child*>(list_->Pop());
      if (child == nullptr || child->future.has_value()) return child;
      Drop(child);
    }
  }

  // Destroys the future of `child`, and returns the key. A child that has woken
  // itself before it was ready is in the list, and is dropped later.
  size_t Remove(Child* child) {
    const size_t key = child->key;
    --size_;
    child->future.reset();
    if (ReadyList::Retire(child)) Drop(child);
    return key;
  }

  // Destroys all children, and returns the waker of the task of a pending
  // `Poll()`.
  Waker DestroyAll() {
    if (list_ == nullptr) return Waker();
    // Wakers of children can keep the list alive, but not the task's waker.
    Waker task = list_->TakeWaker();
    do {
      // Children that a destructor adds use another list.
      ReadyList* const list = std::exchange(list_, nullptr);
      IntrusiveList<Child> children = std::move(children_);
      size_ = 0;
      list->Close();
      while (Child* const child = children.Front()) Drop(child);
      list->Unref();
    } while (list_ != nullptr);
    return task;
  }

  static void Drop(Child* child) {
    child->Unlink();
    // Destroyed here, rather than with the last waker on another thread.
    child->future.reset();
    child->Unref();
  }

  ReadyList* list_ = nullptr;  // made with the first child
  // Has a reference to each child. Includes removed children that are in the
  // list.
  IntrusiveList<Child> children_;
  size_t size_ = 0;     // without removed children
  uint64_t round_ = 0;  // number of calls of `Poll()`
  // True during `Poll()`, and afterwards unless `Poll()` was ready with true.
  bool is_awaited_ = false;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_MANY_CHILD_SET_H_
