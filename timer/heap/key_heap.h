// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: key_heap.h
// -----------------------------------------------------------------------------
//
// `KeyHeap<Key>` is a priority queue of keys, the least key first. Every entry
// has a slot, a small number by which the entry can be removed or given another
// key. The slot is also the index of the entry's data in an array beside the
// heap. `Heap` (heap.h) is a `KeyHeap` with such an array.
//
//   KeyHeap<Instant> deadlines;
//   const auto tea = deadlines.Push(now + absl::Minutes(4));
//   deadlines.Update(tea, now + absl::Minutes(5));
//   names[tea.index()] = "tea";

#ifndef ROUSE_TIMER_HEAP_KEY_HEAP_H_
#define ROUSE_TIMER_HEAP_KEY_HEAP_H_

#include "rouse/base/cxx20.h"

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
// Names an entry of a heap from its `Push()` until its removal. Afterwards the
// heap may give the slot to another entry. Using a slot that names no entry is
// undefined, except in `KeyHeap::Contains()`, and is asserted in debug builds
// if the slot is free. A default slot names nothing.
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
// A heap in a vector. `Key` is copyable and has `<`, and moving a `Key` does
// not throw. Entries with equal keys come in any order. Not thread-safe.
//
// Each node has four children: the way down then touches half as many cache
// lines as with two children. A new entry, or an entry whose key becomes
// greater, rarely moves by more than a level or two.
//
// An entry costs a key and 16 bytes. The heap keeps the memory of its largest
// size so far until its destruction.
template <class Key>
class KeyHeap {
 public:
  using Slot = heap::Slot;

  KeyHeap() = default;
  // Takes over the entries of `other`, and leaves `other` empty. Slots of
  // `other` then name the entries of this heap.
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

  // Returns whether the heap has no entries, and the number of entries.
  bool IsEmpty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }

  // Makes the next `Push()` allocate nothing. Changes nothing if it throws.
  void MakeRoom() {
    if (nodes_.size() == nodes_.capacity()) nodes_.reserve(2 * size() + 8);
    if (first_free_ == kNone && places_.size() == places_.capacity()) {
      places_.reserve(2 * places_.size() + 8);
    }
  }

  // Makes room for `count` entries, including the present entries.
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

  // Returns whether `slot` names an entry: the entry for which the slot was
  // returned, or another.
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
    // The last node takes the free place, and moves from there to the proper
    // place.
    if (position + 1 == nodes_.size()) {
      nodes_.pop_back();
    } else {
      nodes_[position] = std::move(nodes_.back());
      nodes_.pop_back();
      Sift(position);
    }
  }

  // Gives the entry another key. Costs one sift, in the only possible
  // direction: O(log n), or O(1) if the order stays.
  void Update(Slot slot, Key key) {
    const size_t position = PositionOf(slot);
    nodes_[position].key = std::move(key);
    Sift(position);
  }

  // Removes all entries from the heap, but keeps their slots occupied until
  // `FreeNext()` frees each slot. Returns the first such slot, or a default
  // slot if the heap was empty. O(n).
  Slot TakeAll() {
    size_t first = kNone;
    for (const Node& node : nodes_) {
      places_[node.index] = kFree | first;
      first = node.index;
    }
    nodes_.clear();
    return Slot(first);
  }
  // Frees `slot`, a result of `TakeAll()` or of `FreeNext()`. Returns the next
  // slot, or a default slot if `slot` was the last. O(1).
  Slot FreeNext(Slot slot) {
    const size_t next = NextFree(slot.index_);
    Free(slot);
    return Slot(next);
  }

  // Returns whether all invariants hold. For tests. O(n).
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
  // Bit in the place of a slot without an entry. The other bits are the next
  // such slot.
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

  // `SiftUp()` and `SiftDown()` move the other nodes out of the way, and put
  // the node down once.
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
      // Compares in pairs and without branches, which would be mispredicted.
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
  // For each slot, the place of its node, or `kFree` and the next free slot
  // (`kNone` for the last).
  std::vector<size_t> places_;
  size_t first_free_ = kNone;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_KEY_HEAP_H_
