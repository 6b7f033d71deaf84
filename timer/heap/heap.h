// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: heap.h
// -----------------------------------------------------------------------------
//
// `Heap<Key, T>` is a priority queue, the least key first, of which any entry
// can be removed or given another key.
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

namespace rouse::heap {

// Heap
//
// A binary heap in a vector. `Key` is copyable and has `<`; `T` is movable. Of
// equal keys any may come first. Not thread-safe.
//
// Entries have stable slots. Keys move through the heap, with the number of
// their slot; values stay where they are, but for a `Push()`, which may move
// all of them.
//
// What is allocated is given back when the heap is destroyed, and not before:
// memory is that of the largest size so far.
template <class Key, class T>
class Heap {
 public:
  // Slot
  //
  // Which entry: valid from the push until the entry is popped or removed. Then
  // the heap may give it to another entry. Using one that is not valid is
  // undefined, and asserted in debug builds where the slot is free.
  class Slot {
   public:
    friend bool operator==(Slot, Slot) = default;

   private:
    friend class Heap;
    explicit Slot(size_t index) : index_(index) {}

    size_t index_;
  };

  struct Entry {
    Key key;
    T value;
  };

  Heap() = default;
  // Slots go along; the other heap is empty.
  Heap(Heap&& other) noexcept
      : order_(std::move(other.order_)),
        slots_(std::move(other.slots_)),
        first_free_(std::exchange(other.first_free_, kNone)) {}
  Heap& operator=(Heap other) noexcept {
    std::swap(order_, other.order_);
    std::swap(slots_, other.slots_);
    std::swap(first_free_, other.first_free_);
    return *this;
  }

  bool IsEmpty() const { return order_.empty(); }
  size_t size() const { return order_.size(); }

  // Has the next `Push()` allocate nothing. Nothing changes if it throws.
  void MakeRoom() {
    if (order_.size() == order_.capacity()) order_.reserve(2 * size() + 8);
    if (first_free_ == kNone && slots_.size() == slots_.capacity()) {
      slots_.reserve(2 * slots_.size() + 8);
    }
  }

  // Adds an entry. O(log n), amortized.
  Slot Push(Key key, T value) {
    const size_t index = AllocateIndex();
    order_.push_back({std::move(key), index});
    slots_[index].value.emplace(std::move(value));
    SiftUp(order_.size() - 1);
    return Slot(index);
  }

  // The least key, or null if there is none. For until the next change. O(1).
  const Key* Peek() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return IsEmpty() ? nullptr : &order_.front().key;
  }

  // Removes the entry of the least key. O(log n).
  //
  // REQUIRES: the heap is not empty.
  Entry Pop() {
    ABSL_ASSERT(!IsEmpty());
    return Remove(Slot(order_.front().index));
  }

  // Removes the entry of `slot`. O(log n).
  Entry Remove(Slot slot) {
    const size_t position = PositionOf(slot);
    Entry removed{std::move(order_[position].key),
                  *std::move(slots_[slot.index_].value)};
    Free(slot.index_);
    // The last one takes the place, and then its own.
    if (position + 1 == order_.size()) {
      order_.pop_back();
    } else {
      order_[position] = std::move(order_.back());
      order_.pop_back();
      Sift(position);
    }
    return removed;
  }

  // Gives the entry of `slot` another key. One sift, in the one direction that
  // there is: O(log n), and O(1) where the order stays.
  void Update(Slot slot, Key key) {
    const size_t position = PositionOf(slot);
    order_[position].key = std::move(key);
    Sift(position);
  }

  const Key& key(Slot slot) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return order_[PositionOf(slot)].key;
  }
  // For until the next push.
  T& value(Slot slot) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    ABSL_ASSERT(slots_[slot.index_].value.has_value());
    return *slots_[slot.index_].value;
  }

  // For tests: whether all is in order. O(n).
  bool IsConsistent() const {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i > 0 && order_[i].key < order_[Parent(i)].key) return false;
      const Place& place = slots_[order_[i].index];
      if (!place.value.has_value() || place.position != i) return false;
    }
    size_t free = 0;
    for (size_t i = first_free_; i != kNone; i = slots_[i].position) {
      if (slots_[i].value.has_value() || ++free > slots_.size()) return false;
    }
    return order_.size() + free == slots_.size();
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Node {
    Key key;
    size_t index;  // in slots_
  };
  struct Place {
    // In order_. Of a free place: the next free one, or kNone.
    size_t position;
    std::optional<T> value;
  };

  static size_t Parent(size_t position) { return (position - 1) / 2; }

  size_t PositionOf(Slot slot) const {
    ABSL_ASSERT(slot.index_ < slots_.size() &&
                slots_[slot.index_].value.has_value());
    return slots_[slot.index_].position;
  }

  // Leaves things as they were if there is no memory, now or for the node that
  // goes with the place: hence the order.
  size_t AllocateIndex() {
    MakeRoom();
    if (first_free_ == kNone) {
      slots_.push_back({kNone, std::nullopt});
      return slots_.size() - 1;
    }
    return std::exchange(first_free_, slots_[first_free_].position);
  }

  void Free(size_t index) {
    slots_[index].value.reset();
    slots_[index].position = std::exchange(first_free_, index);
  }

  void Sift(size_t position) {
    if (position > 0 && order_[position].key < order_[Parent(position)].key) {
      SiftUp(position);
    } else {
      SiftDown(position);
    }
  }

  // Both move the others out of the way, and put the node down once.
  void SiftUp(size_t position) {
    Node node = std::move(order_[position]);
    while (position > 0 && node.key < order_[Parent(position)].key) {
      Put(position, std::move(order_[Parent(position)]));
      position = Parent(position);
    }
    Put(position, std::move(node));
  }

  void SiftDown(size_t position) {
    Node node = std::move(order_[position]);
    while (true) {
      size_t child = 2 * position + 1;
      if (child >= order_.size()) break;
      if (child + 1 < order_.size() &&
          order_[child + 1].key < order_[child].key) {
        ++child;
      }
      if (!(order_[child].key < node.key)) break;
      Put(position, std::move(order_[child]));
      position = child;
    }
    Put(position, std::move(node));
  }

  void Put(size_t position, Node node) {
    slots_[node.index].position = position;
    order_[position] = std::move(node);
  }

  std::vector<Node> order_;  // the heap
  std::vector<Place> slots_;
  size_t first_free_ = kNone;
};

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_HEAP_H_
