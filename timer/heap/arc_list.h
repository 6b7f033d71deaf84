// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: arc_list.h
// -----------------------------------------------------------------------------
//
// `ArcList<T>` is a lock-free list through which any number of threads tell
// another one that reference-counted nodes have changed. A node is in it once,
// however often it is pushed before it is looked at.
//
//   class Timer : public RefCounted<Timer>, public ArcListNode {
//    public:
//     std::atomic<int64_t> deadline = 0;
//   };
//
//   ArcList<Timer> changed;
//
//   // A thread with a timer.
//   timer->deadline.store(deadline, std::memory_order_relaxed);
//   if (changed.Push(timer) == PushResult::kSealed) ...  // nobody looks any
//   more
//
//   // The thread that looks after the timers.
//   ArcList<Timer>::Batch batch = changed.TakeAll();
//   while (Ref<Timer> timer = batch.Pop()) {
//     Update(*timer, timer->deadline.load(std::memory_order_relaxed));
//   }
//
//   // In the end.
//   ArcList<Timer>::Batch last = changed.TakeAndSeal();
//
// No change is lost: either the look after `Pop()` sees it, or its `Push()`
// makes the node come once more.

#ifndef ROUSE_TIMER_HEAP_ARC_LIST_H_
#define ROUSE_TIMER_HEAP_ARC_LIST_H_

#include <utility>

#include "absl/base/macros.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/timer/heap/ref_counted.h"

namespace rouse::heap {

namespace internal {
class ArcListCore;
}  // namespace internal

// What became of a `Push()`.
enum class PushResult {
  // The node is in the list, which holds a reference to it.
  kPushed,
  // It was in a list already, or in a batch out of one, or about to be: see
  // `ArcList::Push()`.
  kAlreadyEnqueued,
  // The list takes nothing any more. The node is in no list.
  kSealed,
};

// ArcListNode
//
// The base, next to `RefCounted<T>`, of a `T` that goes into lists. It is in
// one list at a time: enqueued from the push that puts it there until it is
// popped.
class ArcListNode {
 public:
  ArcListNode(const ArcListNode&) = delete;
  ArcListNode& operator=(const ArcListNode&) = delete;

 protected:
  constexpr ArcListNode() = default;
  ~ArcListNode();

 private:
  friend class internal::ArcListCore;

  // The protocol is in arc_list.cc.
  Atomic<bool> enqueued_{false};
  Cell<ArcListNode*> next_;
};

namespace internal {

// The list of whatever type: of its nodes, not of their references.
class ArcListCore {
 public:
  ArcListCore() = default;
  ArcListCore(const ArcListCore&) = delete;
  ArcListCore& operator=(const ArcListCore&) = delete;

  // Makes `node` the caller's to link. False if it is enqueued.
  static bool Claim(ArcListNode* node);
  // Links a claimed node. False if the list is sealed: it is claimed no more.
  bool Link(ArcListNode* node);
  // The newest of the nodes that were in the list, or null.
  ArcListNode* TakeAll();
  ArcListNode* TakeAndSeal();
  // Un-enqueues a node that was taken, and returns the next older one.
  static ArcListNode* Unlink(ArcListNode* node);

 private:
  Atomic<ArcListNode*> head_{nullptr};
};

}  // namespace internal

// ArcList
//
// `T` derives from `RefCounted<T>` and `ArcListNode`. Thread-safe, but for the
// destructor. No operation allocates, blocks or throws.
//
// # Memory order
//
// Every push is answered for by whoever ends the node's being enqueued: by the
// `Pop()` that returns it, or by the `Push()` that is answered kSealed. What
// happened before the push, also before one answered kAlreadyEnqueued, happens
// before the return of that call.
//
// What happened before the first `TakeAndSeal()` happens before the return of a
// push that is answered kSealed.
template <class T>
class ArcList {
 public:
  // Batch
  //
  // The nodes of a list at one moment, the newest first, and a reference to
  // each. They count as enqueued until they are popped. A batch is a value of
  // one thread; it may outlive the list. One that is destroyed pops the rest.
  class [[nodiscard]] Batch {
   public:
    Batch() = default;
    Batch(Batch&& other) noexcept
        : newest_(std::exchange(other.newest_, nullptr)) {}
    Batch& operator=(Batch other) noexcept {
      std::swap(newest_, other.newest_);
      return *this;
    }
    ~Batch() {
      while (Pop()) {
      }
    }

    bool IsEmpty() const { return newest_ == nullptr; }

    // The newest node that is left, or null. The node is enqueued no more: a
    // push that comes before the caller looks at it makes it come once more.
    // O(1), wait-free.
    Ref<T> Pop() {
      if (newest_ == nullptr) return nullptr;
      T* const node = static_cast<T*>(newest_);
      newest_ = internal::ArcListCore::Unlink(newest_);
      return Ref<T>::Adopt(node);
    }

   private:
    friend class ArcList;

    explicit Batch(ArcListNode* newest) : newest_(newest) {}

    ArcListNode* newest_ = nullptr;
  };

  ArcList() = default;
  // Pops what is left. Nobody uses the list meanwhile.
  ~ArcList() { static_cast<void>(TakeAll()); }

  // Puts `node` in the list, which takes a reference to it. O(1), lock-free:
  // it starts over when another thread has pushed or taken at the same time.
  //
  // A node that is enqueued already, wherever it is, stays there: then the
  // call is one atomic operation. Where two threads push one node into one list
  // at the same time, while a third seals it, one of the two may be answered
  // kSealed and the other kAlreadyEnqueued: the first answer is the node's, and
  // its receiver sees what the other thread had done.
  //
  // In a sealed list: kSealed, time and again, once the node has left the last
  // batch.
  //
  // REQUIRES: `node` is not null.
  PushResult Push(const Ref<T>& node) {
    ABSL_ASSERT(node);
    if (!internal::ArcListCore::Claim(node.get())) {
      return PushResult::kAlreadyEnqueued;
    }
    // Taken first: what is linked may be popped, and dropped, at once.
    Ref<T> reference = node;
    if (!list_.Link(node.get())) return PushResult::kSealed;
    static_cast<void>(reference.Release());
    return PushResult::kPushed;
  }

  // Removes all nodes. Empty if the list is sealed, and leaves it so. O(1),
  // lock-free.
  //
  // A list that looks empty is not ordered with the pushes that come later:
  // what tells this thread to look, such as an `AtomicWaker`, sees to that.
  Batch TakeAll() { return Batch(list_.TakeAll()); }

  // Removes all nodes, and has the list take no more. Empty if it was sealed
  // already. O(1), wait-free.
  Batch TakeAndSeal() { return Batch(list_.TakeAndSeal()); }

 private:
  internal::ArcListCore list_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_ARC_LIST_H_
