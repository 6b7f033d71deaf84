// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: arc_list.h
// -----------------------------------------------------------------------------
//
// `ArcList<T>` is a lock-free list through which any number of threads notify
// another thread that reference-counted nodes have changed. However often a
// node is pushed before the other thread's check, the node is in the list once.
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
// No change is lost: either the check after `Pop()` sees the change, or the
// change's `Push()` puts the node in the list again.

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

// Result of a `Push()`.
enum class PushResult {
  // The node is in the list, which holds a reference to it.
  kPushed,
  // The node already was, or was about to be, in a list or in a batch taken
  // from a list: see `ArcList::Push()`.
  kAlreadyEnqueued,
  // The list accepts no more nodes. The node is in no list.
  kSealed,
};

// ArcListNode
//
// The base, next to `RefCounted<T>`, of a list's `T`. A node is in one list at
// a time: it is enqueued from the push into the list until it is popped.
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

// A list of nodes of any type, without their references.
class ArcListCore {
 public:
  ArcListCore() = default;
  ArcListCore(const ArcListCore&) = delete;
  ArcListCore& operator=(const ArcListCore&) = delete;

  // Gives the caller the right to link `node`. Returns false if `node` is
  // enqueued.
  static bool Claim(ArcListNode* node);
  // Links a claimed node. Returns false if the list is sealed; the node is then
  // no longer claimed.
  bool Link(ArcListNode* node);
  // Removes all nodes. Returns the newest node, or null.
  ArcListNode* TakeAll();
  ArcListNode* TakeAndSeal();
  // Ends the enqueued state of a taken node, and returns the next older node.
  static ArcListNode* Unlink(ArcListNode* node);

 private:
  Atomic<ArcListNode*> head_{nullptr};
};

}  // namespace internal

// ArcList
//
// `T` derives from `RefCounted<T>` and `ArcListNode`. Thread-safe, except for
// the destructor. No operation allocates, blocks or throws.
//
// # Memory order
//
// For every push, one call ends the enqueued state of the node: the `Pop()`
// that returns the node, or the `Push()` that returns kSealed. Everything that
// happened before the push, even if the push returned kAlreadyEnqueued, happens
// before the return of that call.
//
// Everything that happened before the first `TakeAndSeal()` happens before a
// push returns kSealed.
template <class T>
class ArcList {
 public:
  // Batch
  //
  // The nodes of a list at one moment, the newest first, and a reference to
  // each. The nodes count as enqueued until they are popped. A batch is a value
  // of one thread, and may outlive the list. Destroying a batch pops the
  // remaining nodes.
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

    // Returns whether no node remains.
    bool IsEmpty() const { return newest_ == nullptr; }

    // Returns the newest remaining node, or null. The node is no longer
    // enqueued: a push before the caller's check of the node puts the node in
    // the list again. O(1), wait-free.
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
  // Pops the remaining nodes. No other thread may use the list meanwhile.
  ~ArcList() { static_cast<void>(TakeAll()); }

  // Puts `node` and a reference to `node` in the list. O(1), lock-free: the
  // call starts over if another thread has pushed or taken at the same time.
  //
  // A node that is already enqueued, in whichever list or batch, stays there,
  // and the call is then one atomic operation. If two threads push the same
  // node into the same list at the same time, while a third thread seals the
  // list, one push may return kSealed and the other kAlreadyEnqueued. Then
  // kSealed is the answer for the node, and the receiver of kSealed sees
  // everything that the other thread had done.
  //
  // Once the list is sealed and the node has left the last batch, every call
  // returns kSealed.
  //
  // REQUIRES: `node` is not null.
  PushResult Push(const Ref<T>& node) {
    ABSL_ASSERT(node);
    if (!internal::ArcListCore::Claim(node.get())) {
      return PushResult::kAlreadyEnqueued;
    }
    // Taken first, because a linked node may be popped and dropped at once.
    Ref<T> reference = node;
    if (!list_.Link(node.get())) return PushResult::kSealed;
    static_cast<void>(reference.Release());
    return PushResult::kPushed;
  }

  // Removes and returns all nodes. If the list is sealed, the batch is empty,
  // and the list stays sealed. O(1), lock-free.
  //
  // If the list appears to be empty, the call is not ordered with later pushes.
  // The means of notifying this thread of changes, such as an `AtomicWaker`,
  // provides the order.
  Batch TakeAll() { return Batch(list_.TakeAll()); }

  // Removes and returns all nodes, and makes the list accept no more. The batch
  // is empty if the list was already sealed. O(1), wait-free.
  Batch TakeAndSeal() { return Batch(list_.TakeAndSeal()); }

 private:
  internal::ArcListCore list_;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_ARC_LIST_H_
