// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: heap.h
// -----------------------------------------------------------------------------
//
// `Heap<Key, T>` is a priority queue, the least key first. Any entry can be
// removed or given another key.
//
//   Heap<Instant, std::string> alarms;
//   const auto tea = alarms.Push(now + absl::Minutes(4), "tea");
//   alarms.Push(now + absl::Hours(1), "lunch");
//   alarms.Update(tea, now + absl::Minutes(5));
//   while (!alarms.IsEmpty() && *alarms.Peek() <= now) {
//     std::cout << alarms.Pop().value;
//   }

#ifndef ROUSE_TIMER_HEAP_HEAP_H_
#define ROUSE_TIMER_HEAP_HEAP_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "rouse/timer/heap/key_heap.h"

namespace rouse::heap {

// Heap
//
// A `KeyHeap` (key_heap.h) with a value for each entry. `Key` is as there; `T`
// is movable. Entries with equal keys come in any order. Not thread-safe.
//
// Entries have stable slots. Keys move through the heap, with the number of
// their slot. Values do not move, except that a `Push()` may move all values.
//
// The heap keeps the memory of its largest size so far until its destruction.
template <class Key, class T>
class Heap {
 public:
  using Slot = heap::Slot;

  // An entry that has left the heap.
  struct Entry {
    Key key;
    T value;
  };

  // Returns whether the heap has no entries, and the number of entries.
  bool IsEmpty() const { return keys_.IsEmpty(); }
  size_t size() const { return keys_.size(); }

  // Makes the next `Push()` allocate nothing. Changes nothing if it throws.
  void MakeRoom() {
    keys_.MakeRoom();
    if (keys_.NextSlot().index() == values_.capacity()) {
      values_.reserve(2 * values_.size() + 8);
    }
  }

  // Adds an entry. Changes nothing if it throws. O(log n), amortized.
  Slot Push(Key key, T value) {
    MakeRoom();
    const size_t index = keys_.NextSlot().index();
    if (index == values_.size()) values_.emplace_back();
    values_[index].emplace(std::move(value));
    return keys_.Push(std::move(key));
  }

  // Returns the least key, or null if there is none. Valid until the heap
  // changes. O(1).
  const Key* Peek() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return IsEmpty() ? nullptr : &keys_.key(keys_.Front());
  }

  // Removes the entry of the least key, and returns it. O(log n).
  //
  // REQUIRES: the heap is not empty.
  Entry Pop() { return Remove(keys_.Front()); }

  // Removes the entry of `slot`, and returns it. O(log n).
  Entry Remove(Slot slot) {
    Entry removed{keys_.key(slot), *std::move(values_[slot.index()])};
    values_[slot.index()].reset();
    keys_.Remove(slot);
    return removed;
  }

  // Gives the entry of `slot` another key. Costs one sift, in the only possible
  // direction: O(log n), or O(1) if the order stays.
  void Update(Slot slot, Key key) { keys_.Update(slot, std::move(key)); }

  // Returns the key of the entry. Valid until the heap changes.
  const Key& key(Slot slot) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return keys_.key(slot);
  }
  // Returns the value of the entry. Valid until the next `Push()`.
  T& value(Slot slot) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(keys_.Contains(slot));
    return *values_[slot.index()];
  }

  // Returns whether all invariants hold. For tests. O(n).
  bool IsConsistent() const {
    if (!keys_.IsConsistent()) return false;
    size_t count = 0;
    for (const std::optional<T>& value : values_) count += value.has_value();
    return count == size();
  }

 private:
  KeyHeap<Key> keys_;
  std::vector<std::optional<T>> values_;  // indexed by slot
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_HEAP_H_
