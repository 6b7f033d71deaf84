// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: intrusive_list.h
// -----------------------------------------------------------------------------
//
// `IntrusiveList<T>` is a doubly linked list whose links are in its elements.
// Inserting allocates nothing, and an element can leave a list without knowing
// the list:
//
//   struct Waiter : rouse::IntrusiveListNode<> { rouse::Waker waker; };
//
//   rouse::IntrusiveList<Waiter> waiters;
//   Waiter waiter;
//   waiters.PushBack(&waiter);
//   waiter.Unlink();             // O(1)
//
// Lists are not thread-safe: one lock or one thread must guard a list and the
// links of all its elements.

#ifndef ROUSE_BASE_INTRUSIVE_LIST_H_
#define ROUSE_BASE_INTRUSIVE_LIST_H_

#include "rouse/base/cxx20.h"

#include <type_traits>

#include "absl/base/macros.h"

namespace rouse {

template <class T, class Tag>
class IntrusiveList;

// IntrusiveListNode
//
// Holds the links of one element. A type whose objects are in several lists at
// once derives from a separate node for each list, distinguished by `Tag`. An
// element must not move while it is linked, and must be unlinked before it is
// destroyed.
template <class Tag = void>
class IntrusiveListNode {
 public:
  constexpr IntrusiveListNode() = default;
  IntrusiveListNode(const IntrusiveListNode&) = delete;
  IntrusiveListNode& operator=(const IntrusiveListNode&) = delete;
  ~IntrusiveListNode() { ABSL_ASSERT(!IsLinked()); }

  // Returns whether the element is in a list.
  bool IsLinked() const { return next_ != nullptr; }

  // Leaves the list. Does nothing if the element is in no list. O(1).
  void Unlink() {
    if (!IsLinked()) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    next_ = prev_ = nullptr;
  }

 private:
  template <class, class>
  friend class IntrusiveList;

  IntrusiveListNode* next_ = nullptr;
  IntrusiveListNode* prev_ = nullptr;
};

// IntrusiveList
//
// Owns nothing: elements must outlive their stay in a list. Every operation
// except `Clear()`, `HasAtLeast()` and `ForEach()` is O(1). Moving a list moves
// its elements. A list must be empty when it is destroyed or moved to.
template <class T, class Tag = void>
class IntrusiveList {
 public:
  constexpr IntrusiveList() { Reset(); }

  IntrusiveList(IntrusiveList&& other) noexcept {
    Reset();
    Append(other);
  }

  IntrusiveList& operator=(IntrusiveList&& other) noexcept {
    if (this == &other) return *this;
    ABSL_ASSERT(IsEmpty());
    Append(other);
    return *this;
  }

  ~IntrusiveList() {
    ABSL_ASSERT(IsEmpty());
    head_.next_ = head_.prev_ = nullptr;
  }

  // Returns whether the list has no elements.
  bool IsEmpty() const { return head_.next_ == &head_; }

  // Returns whether the list has at least `count` elements. O(`count`).
  bool HasAtLeast(int count) const {
    const Node* node = &head_;
    for (; count > 0; --count) {
      node = node->next_;
      if (node == &head_) return false;
    }
    return true;
  }

  // Returns the first or last element, or null if the list is empty.
  T* Front() { return IsEmpty() ? nullptr : Element(head_.next_); }
  T* Back() { return IsEmpty() ? nullptr : Element(head_.prev_); }

  // Adds the element at the end, or at the beginning.
  // REQUIRES: `element` is in no list of this `Tag`.
  void PushBack(T* element) { InsertBefore(&head_, element); }
  void PushFront(T* element) { InsertBefore(head_.next_, element); }

  // Removes and returns the first or last element, or null if the list is
  // empty.
  T* PopFront() { return Pop(head_.next_); }
  T* PopBack() { return Pop(head_.prev_); }

  // Unlinks `element`. Returns the list if the list is now empty, or null if
  // other elements are left. O(1).
  //
  // REQUIRES: `element` is in a list of this type.
  static IntrusiveList* Remove(T* element) {
    Node* node = element;
    ABSL_ASSERT(node->IsLinked());
    // Both neighbors are the sentinel if and only if the element is alone.
    Node* next = node->next_;
    const bool alone = next == node->prev_;
    node->Unlink();
    return alone ? FromSentinel(next) : nullptr;
  }

  // Moves all elements of `other` behind the elements of this list.
  void Append(IntrusiveList& other) {
    if (other.IsEmpty()) return;
    Node* first = other.head_.next_;
    Node* last = other.head_.prev_;
    other.Reset();
    first->prev_ = head_.prev_;
    head_.prev_->next_ = first;
    last->next_ = &head_;
    head_.prev_ = last;
  }

  // Unlinks every element. O(size).
  void Clear() {
    while (PopFront() != nullptr) {
    }
  }

  // Calls `visit(T*)` for each element, from the first to the last. `visit` may
  // unlink, and then destroy, the element passed to the call, and no other.
  // O(size).
  template <class Visitor>
  void ForEach(Visitor&& visit) {
    for (Node* node = head_.next_; node != &head_;) {
      Node* next = node->next_;
      visit(Element(node));
      node = next;
    }
  }
  // Like the above, for a `visit(const T*)` that changes nothing.
  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Node* node = head_.next_; node != &head_; node = node->next_) {
      visit(static_cast<const T*>(node));
    }
  }

 private:
  using Node = IntrusiveListNode<Tag>;

  static T* Element(Node* node) { return static_cast<T*>(node); }

  static IntrusiveList* FromSentinel(Node* head) {
    // The sentinel is the only member, so both have the same address.
    static_assert(std::is_standard_layout_v<IntrusiveList>);
    return reinterpret_cast<IntrusiveList*>(head);
  }

  constexpr void Reset() { head_.next_ = head_.prev_ = &head_; }

  static void InsertBefore(Node* position, T* element) {
    Node* node = element;
    ABSL_ASSERT(!node->IsLinked());
    node->prev_ = position->prev_;
    node->next_ = position;
    position->prev_->next_ = node;
    position->prev_ = node;
  }

  T* Pop(Node* node) {
    if (node == &head_) return nullptr;
    node->Unlink();
    return Element(node);
  }

  // Sentinel of the ring: `next_` is the first element and `prev_` the last.
  Node head_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_INTRUSIVE_LIST_H_
