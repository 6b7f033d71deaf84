// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delay_queue.h
// -----------------------------------------------------------------------------
//
// A `DelayQueue` holds values until their time comes, and gives them one after
// another. Here, sessions that end when they are not used:
//
//   DelayQueue<SessionId> idle;
//   session.key = idle.Insert(session.id, absl::Minutes(30));
//   ...
//   idle.Reset(session.key, absl::Minutes(30));       // it is used
//   ...
//   while (auto expired = co_await Next(idle)) Close(expired->value);
//
// One task waits for many deadlines, where a `Sleep` for each would want a task
// for each.

#ifndef ROUSE_TIMER_DELAY_QUEUE_H_
#define ROUSE_TIMER_DELAY_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/key_heap.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// DelayKey
//
// Names an entry of one `DelayQueue`, from its insertion until it has expired
// or was removed. From then on it names nothing, whatever else comes to the
// place of that entry: each has a generation of its own, of 64 bits, and so
// none comes again. A default key names nothing, and a key of one queue means
// nothing to another.
class DelayKey {
 public:
  DelayKey() = default;

  friend bool operator==(const DelayKey&, const DelayKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const DelayKey& key) {
    return H::combine(std::move(h), key.generation_);
  }

 private:
  friend class DelayQueueBase;
  template <class T>
  friend class DelayQueue;

  DelayKey(heap::Slot slot, uint64_t generation)
      : slot_(slot), generation_(generation) {}

  heap::Slot slot_;
  uint64_t generation_ = 0;  // 0 for no entry
};

// DelayQueueBase
//
// What does not depend on the type of the values; see `DelayQueue`.
//
// A heap and not a wheel: entries come in the order of their deadlines and not
// of their ticks, nothing has to move while time passes, and so the task is
// woken for what expires and for nothing else.
class DelayQueueBase {
 public:
  DelayQueueBase(const DelayQueueBase&) = delete;
  DelayQueueBase& operator=(const DelayQueueBase&) = delete;

  // How many entries there are.
  size_t Len() const { return heap_.size(); }
  bool IsEmpty() const { return heap_.IsEmpty(); }

  // Whether `key` names an entry.
  bool Contains(DelayKey key) const;

  // When that entry expires; nothing if `key` names none.
  std::optional<Instant> Deadline(DelayKey key) const;

  // The entry that expires next; nothing if there is none.
  std::optional<DelayKey> Peek() const;

  // Lets the entry expire at another time, `delay` from now. False, and nothing
  // else happens, if `key` names none. O(log n) at worst, see above.
  bool Reset(DelayKey key, AnyDuration delay) {
    return ResetAt(key, Now() + delay);
  }
  bool ResetAt(DelayKey key, Instant deadline);

 protected:
  struct Order {
    Instant deadline;
    uint64_t generation;  // in the order of insertion

    friend bool operator<(const Order& a, const Order& b) {
      if (a.deadline != b.deadline) return a.deadline < b.deadline;
      return a.generation < b.generation;
    }
  };

  explicit DelayQueueBase(const wheel::Handle& handle)
      : clock_(handle.clock()), registration_(handle.core(), Instant::Max()) {}
  ~DelayQueueBase() = default;

  Instant Now() const { return clock_.Now(); }

  // Returns the index of the slot that the next entry will have, and makes room
  // for that entry.
  size_t PrepareInsert() {
    heap_.MakeRoom();
    return heap_.NextSlot().index();
  }
  // Inserts the entry with that slot. It is in also if this throws, as the
  // waker of the task that waits may.
  DelayKey CommitInsert(Instant deadline);

  // Whether the head has expired. Ready with false: the driver has gone.
  PollResult<bool> PollHead(Context& cx);

  heap::KeyHeap<Order> heap_;

 private:
  void WakeForNearerHead();

  // The registration keeps it alive.
  const Clock& clock_;
  uint64_t last_generation_ = 0;
  bool has_ended_ = false;

  // While a task waits, this does, for the deadline of the head or an earlier
  // one. With no head that is `Instant::Max()`, so that the task is told if the
  // driver goes.
  wheel::internal::Registration registration_;
};

// DelayQueue
//
// A stream of entries that have expired, the earliest deadline first; those
// with the same deadline in the order of their insertion.
//
// # Time
//
// Deadlines are on the clock of the driver that it was made with. No entry
// expires before its deadline, and each does at the first tick of the driver at
// or after it (see Sleep for how late that may be). Whoever polls later gets
// all that has expired meanwhile. A deadline that has passed is fine, and one
// beyond the end of the clock never comes.
//
// # The stream
//
// Waits while the queue is empty: it ends only when the driver has gone, and
// then for good. What is left can still be removed.
//
// A task that waits needs no poll to be woken for what changes: an entry that
// is inserted, or reset, to expire before all others is noticed at once. If the
// first entry is removed or put off, the task may be woken once at the earlier
// time, and find nothing; in turn, that costs no lock. One task at a time
// waits, and it is the one that polled last.
//
// Each entry that is given takes a unit of the task's budget. A `Next()` that
// is destroyed before it is ready takes no entry.
//
// # Use
//
// It is for one thread at a time, and neither copied nor moved. Destroying it
// destroys the entries. `Insert`, `Reset`, `TryRemove` and expiring are
// O(log n), and only `Insert` allocates, if `Len()` is `Capacity()`.
template <class T>
class [[nodiscard]] DelayQueue : public DelayQueueBase {
 public:
  // An entry that has left the queue. Moving it throws what moving a `T` does.
  // NOLINTNEXTLINE(bugprone-exception-escape)
  struct Expired {
    DelayKey key;      // names nothing any more
    Instant deadline;  // when it was to expire
    T value;
  };

  // With the current driver; without one, a `Panic()`.
  DelayQueue() : DelayQueue(wheel::Handle::Current()) {}
  explicit DelayQueue(const wheel::Handle& handle) : DelayQueueBase(handle) {}

  // Inserts `value`, to expire `delay` from now.
  DelayKey Insert(T value, AnyDuration delay) {
    return InsertAt(std::move(value), Now() + delay);
  }
  DelayKey InsertAt(T value, Instant deadline);

  // Removes an entry; nothing if `key` names none.
  std::optional<Expired> TryRemove(DelayKey key);
  // The same, for a key that does name one; else a `Panic()`.
  Expired Remove(DelayKey key);

  // The value of an entry; null if `key` names none. Valid until something is
  // inserted, or the entry leaves the queue.
  T* Get(DelayKey key) {
    return Contains(key) ? &*values_[key.slot_.index()] : nullptr;
  }

  // Removes the entries that there are, and destroys their values. What the
  // destructor of a value inserts stays. O(n) in the number of entries.
  void Clear();

  // How many entries fit without an allocation.
  size_t Capacity() const {
    return std::min(heap_.capacity(), values_.capacity());
  }
  // Makes room for `count` entries, those that are there included.
  void Reserve(size_t count);

  PollResult<std::optional<Expired>> PollNext(Context& cx);

 private:
  std::vector<std::optional<T>> values_;  // by the indices of slots
};

// -----------------------------------------------------------------------------
// Implementation details follow.
// -----------------------------------------------------------------------------

template <class T>
DelayKey DelayQueue<T>::InsertAt(T value, Instant deadline) {
  const size_t index = PrepareInsert();
  if (index == values_.size()) {
    values_.emplace_back(std::move(value));
  } else {
    values_[index].emplace(std::move(value));
  }
  return CommitInsert(deadline);
}

template <class T>
auto DelayQueue<T>::TryRemove(DelayKey key) -> std::optional<Expired> {
  const std::optional<Instant> deadline = Deadline(key);
  if (!deadline.has_value()) return std::nullopt;
  std::optional<Expired> removed(
      Expired{key, *deadline, *std::move(values_[key.slot_.index()])});
  heap_.Remove(key.slot_);
  values_[key.slot_.index()].reset();
  return removed;
}

template <class T>
auto DelayQueue<T>::Remove(DelayKey key) -> Expired {
  std::optional<Expired> removed = TryRemove(key);
  if (!removed.has_value()) {
    Panic(
        "DelayQueue::Remove: the entry has expired or was removed; call "
        "TryRemove if that may be");
  }
  return *std::move(removed);
}

template <class T>
void DelayQueue<T>::Clear() {
  heap::Slot slot = heap_.TakeAll();
  while (slot != heap::Slot()) {
    // Out of the slot first: its destructor may insert into this queue.
    [[maybe_unused]] const T value = *std::move(values_[slot.index()]);
    values_[slot.index()].reset();
    slot = heap_.FreeNext(slot);
  }
}

template <class T>
void DelayQueue<T>::Reserve(size_t count) {
  heap_.Reserve(count);
  values_.reserve(count);
}

template <class T>
auto DelayQueue<T>::PollNext(Context& cx)
    -> PollResult<std::optional<Expired>> {
  const PollResult<bool> head = PollHead(cx);
  if (head.IsPending()) return kPending;
  if (!*head) return std::nullopt;
  return TryRemove(*Peek());
}

}  // namespace rouse

#endif  // ROUSE_TIMER_DELAY_QUEUE_H_
