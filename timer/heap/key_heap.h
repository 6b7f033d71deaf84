// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: key_heap.h
// -----------------------------------------------------------------------------
//
// `KeyHeap<Key>` is a priority queue of keys, the least key first, in which
// every entry has a slot: a small number by which the entry can be removed or
// given another key, and which is the index of what belongs to the entry in an
// array beside the heap. `Heap` (heap.h) is a `KeyHeap` with such an array.
//
//   KeyHeap<Instant> deadlines;
//   const auto tea = deadlines.Push(now + absl::Minutes(4));
//   deadlines.Update(tea, now + absl::Minutes(5));
//   names[tea.index()] = "tea";

#ifndef ROUSE_TIMER_HEAP_KEY_HEAP_H_
#define ROUSE_TIMER_HEAP_KEY_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/optimization.h"

namespace rouse::heap {

// Slot
//
// Names an entry of a heap from its `Push()` until it is removed. Afterwards
// the heap may give the slot to another entry. To use a slot that names no
// entry is undefined, but for `KeyHeap::Contains()`, and asserted in debug
// builds where the slot is free. A default slot names nothing.
class Slot {
 public:
  Slot() = default;

  // Returns a number less than the largest number of entries so far.
  size_t index() const { return index_; }

  friend bool operator==(Slot, Slot) = default;

 private:
  template <class Key>
  friend class KeyHeap;
  explicit Slot(size_t index) : index_(index) {}

  size_t index_ = ~size_t{0};
};

// KeyHeap
//
// A heap in a vector. `Key` is copyable and has `<`; of equal keys any may come
// first. Not thread-safe.
//
// Each node has four children: that touches half as many cache lines on the way
// down as two children do. A new entry, or one whose key becomes greater,
// rarely moves by more than a level or two.
//
// An entry costs a key and 16 bytes. Memory is that of the largest size so far,
// and is given back when the heap is destroyed.
template <class Key>
class KeyHeap {
 public:
  using Slot = heap::Slot;

  KeyHeap() = default;
  // Slots of `other` name the entries of this heap then; `other` is empty.
  KeyHeap(KeyHeap&& other) noexcept
      : nodes_(std::move(other.nodes_)),
        places_(std::move(other.places_)),
        first_free_(std::exchange(other.first_free_, kNone)) {}
  KeyHeap& operator=(KeyHeap other) noexcept {
    std::swap(nodes_, other.nodes_);
    std::swap(places_, other.places_);
    std::swap(first_free_, other.first_free_);
    return *this;
  }

  bool IsEmpty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }

  // Makes the next `Push()` allocate nothing. Changes nothing if it throws.
  void MakeRoom() {
    if (nodes_.size() == nodes_.capacity()) nodes_.reserve(2 * size() + 8);
    if (first_free_ == kNone && places_.size() == places_.capacity()) {
      places_.reserve(2 * places_.size() + 8);
    }
  }

  // Makes room for `count` entries, including those that are there.
  void Reserve(size_t count) {
    nodes_.reserve(count);
    places_.reserve(count);
  }
  // Returns how many entries fit without an allocation.
  size_t capacity() const {
    return std::min(nodes_.capacity(), places_.capacity());
  }

  // Returns the slot that the next `Push()` returns.
  Slot NextSlot() const {
    return Slot(first_free_ != kNone ? first_free_ : places_.size());
  }

  // Adds an entry. Changes nothing if it throws. O(log n), amortized.
  Slot Push(Key key) {
    MakeRoom();
    const Slot slot = NextSlot();
    if (first_free_ == kNone) {
      places_.push_back(0);
    } else {
      first_free_ = NextFree(first_free_);
    }
    nodes_.push_back({std::move(key), slot.index_});
    SiftUp(nodes_.size() - 1);
    return slot;
  }

  // Returns the slot of the least key. O(1).
  //
  // REQUIRES: the heap is not empty.
  Slot Front() const {
    ABSL_ASSERT(!IsEmpty());
    return Slot(nodes_.front().index);
  }

  // Returns whether `slot` names an entry, be it the one that it was returned
  // for or another.
  bool Contains(Slot slot) const {
    return slot.index_ < places_.size() && places_[slot.index_] < kFree;
  }

  // Returns the key of the entry. Valid until the heap changes.
  const Key& key(Slot slot) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return nodes_[PositionOf(slot)].key;
  }

  // Removes the entry. O(log n).
  void Remove(Slot slot) {
    const size_t position = PositionOf(slot);
    Free(slot);
    // The last node takes the place, and from there moves to its own.
    if (position + 1 == nodes_.size()) {
      nodes_.pop_back();
    } else {
      nodes_[position] = std::move(nodes_.back());
      nodes_.pop_back();
      Sift(position);
    }
  }

  // Gives the entry another key. One sift, in the only direction that is
  // possible: O(log n), and O(1) where the order stays.
  void Update(Slot slot, Key key) {
    const size_t position = PositionOf(slot);
    nodes_[position].key = std::move(key);
    Sift(position);
  }

  // Takes all entries out of the order, and keeps their slots taken until
  // `FreeNext()` frees them one by one. Returns the first of these slots, or a
  // default one if there is none. O(n).
  Slot TakeAll() {
    size_t first = kNone;
    for (const Node& node : nodes_) {
      places_[node.index] = kFree | first;
      first = node.index;
    }
    nodes_.clear();
    return Slot(first);
  }
  // Frees `slot`, which comes from `TakeAll()` or from this function. Returns
  // the next one, or a default one if there is none. O(1).
  Slot FreeNext(Slot slot) {
    const size_t next = NextFree(slot.index_);
    Free(slot);
    return Slot(next);
  }

  // For tests: returns whether all is in order. O(n).
  bool IsConsistent() const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (i > 0 && nodes_[i].key < nodes_[Parent(i)].key) return false;
      if (places_[nodes_[i].index] != i) return false;
    }
    size_t free = 0;
    for (size_t i = first_free_; i != kNone; i = NextFree(i)) {
      if (places_[i] < kFree || ++free > places_.size()) return false;
    }
    return nodes_.size() + free == places_.size();
  }

 private:
  static constexpr size_t kArity = 4;
  // The place of a slot without an entry has this bit, and the next such slot.
  static constexpr size_t kFree = ~(~size_t{0} >> 1);
  static constexpr size_t kNone = ~size_t{0};

  struct Node {
    Key key;
    size_t index;  // of its slot
  };

  static size_t Parent(size_t position) { return (position - 1) / kArity; }

  size_t PositionOf(Slot slot) const {
    ABSL_ASSERT(Contains(slot));
    return places_[slot.index_];
  }

  size_t NextFree(size_t index) const {
    const size_t place = places_[index];
    return place == kNone ? kNone : place & ~kFree;
  }

  void Free(Slot slot) {
    places_[slot.index_] = kFree | std::exchange(first_free_, slot.index_);
  }

  void Sift(size_t position) {
    if (position > 0 && nodes_[position].key < nodes_[Parent(position)].key) {
      SiftUp(position);
    } else {
      SiftDown(position);
    }
  }

  // Both move the others out of the way, and put the node down once.
  void SiftUp(size_t position) {
    Node node = std::move(nodes_[position]);
    while (position > 0 && node.key < nodes_[Parent(position)].key) {
      Put(position, std::move(nodes_[Parent(position)]));
      position = Parent(position);
    }
    Put(position, std::move(node));
  }

  void SiftDown(size_t position) {
    Node node = std::move(nodes_[position]);
    while (true) {
      const size_t first = kArity * position + 1;
      if (first >= nodes_.size()) break;
      const size_t least = LeastFrom(first);
      if (!(nodes_[least].key < node.key)) break;
      Put(position, std::move(nodes_[least]));
      position = least;
    }
    Put(position, std::move(node));
  }

  // Returns the position of the least of the siblings from `first` on.
  size_t LeastFrom(size_t first) const {
    const size_t count = std::min(kArity, nodes_.size() - first);
    if (ABSL_PREDICT_TRUE(count == kArity)) {
      // In pairs, and without branches, which would be mispredicted.
      const size_t a = LeastOf(first, first + 1);
      const size_t b = LeastOf(first + 2, first + 3);
      return LeastOf(a, b);
    }
    size_t least = first;
    for (size_t i = 1; i < count; ++i) least = LeastOf(least, first + i);
    return least;
  }
  size_t LeastOf(size_t a, size_t b) const {
    return nodes_[b].key < nodes_[a].key ? b : a;
  }

  void Put(size_t position, Node node) {
    places_[node.index] = position;
    nodes_[position] = std::move(node);
  }

  std::vector<Node> nodes_;  // the heap
  // Of each slot: where its node is, or `kFree` and the next free slot, where
  // `kNone` is the last.
  std::vector<size_t> places_;
  size_t first_free_ = kNone;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_KEY_HEAP_H_
