// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delay_queue.h
// -----------------------------------------------------------------------------
//
// A `DelayQueue` holds values until their deadlines, and gives each value when
// its deadline has come. In this example, sessions end when they are not used:
//
//   DelayQueue<SessionId> idle;
//   session.key = idle.Insert(session.id, absl::Minutes(30));
//   ...
//   idle.Reset(session.key, absl::Minutes(30));       // it is used
//   ...
//   while (auto expired = co_await Next(idle)) Close(expired->value);
//
// One task waits for many deadlines. With a `Sleep` for each deadline, each
// would need a task.

#ifndef ROUSE_TIMER_DELAY_QUEUE_H_
#define ROUSE_TIMER_DELAY_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
// or was removed. From then on the key names nothing, even if another entry
// takes the place of the old one: each entry has a generation of its own, of 64
// bits, so no key is ever used again. A default key names nothing, and a key of
// one queue means nothing to another queue.
class DelayKey {
 public:
  DelayKey() = default;

  friend bool operator==(const DelayKey&, const DelayKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const DelayKey& key) {
    return H::combine(std::move(h), key.generation_);
  }

  // Returns a text that distinguishes the keys of a queue, for logs, such as
  // "key 7", or "no key" for a default key.
  std::string ToString() const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const DelayKey& key) {
    sink.Append(key.ToString());
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
// The parts of a `DelayQueue` that do not depend on the type of the values.
//
// A heap is used, not a wheel. Entries come in the order of deadlines rather
// than of ticks, and no entry has to move while time passes, so the task is
// woken only when a deadline comes.
class DelayQueueBase {
 public:
  DelayQueueBase(const DelayQueueBase&) = delete;
  DelayQueueBase& operator=(const DelayQueueBase&) = delete;

  // Returns the number of entries.
  size_t Len() const { return heap_.size(); }
  bool IsEmpty() const { return heap_.IsEmpty(); }

  // Returns whether `key` names an entry.
  bool Contains(DelayKey key) const;

  // Returns when the entry of `key` expires, or nothing if `key` names no
  // entry.
  std::optional<Instant> Deadline(DelayKey key) const;

  // Returns the entry that expires next, or nothing if the queue is empty.
  std::optional<DelayKey> Peek() const;

  // Makes the entry expire at another time, `delay` from now. Returns false,
  // and does nothing, if `key` names no entry. O(log n) at worst.
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

  // Returns the index of the next entry's slot, and makes room for the entry.
  size_t PrepareInsert() {
    heap_.MakeRoom();
    return heap_.NextSlot().index();
  }
  // Inserts the entry into the slot of `PrepareInsert()`. The entry is inserted
  // even if this throws, as the waker of the waiting task may.
  DelayKey CommitInsert(Instant deadline);

  // Ready with true when the head has expired, or with false when the driver
  // has shut down.
  PollResult<bool> PollHead(Context& cx);

  heap::KeyHeap<Order> heap_;

 private:
  void WakeForNearerHead();

  // The registration keeps the clock alive.
  const Clock& clock_;
  uint64_t last_generation_ = 0;
  bool has_ended_ = false;

  // Waits while a task waits, for the deadline of the head or an earlier one.
  // If the queue is empty, the deadline is `Instant::Max()`: the task is then
  // still notified if the driver shuts down.
  wheel::internal::Registration registration_;
};

// DelayQueue
//
// A stream of expired entries, in the order of deadlines. Entries with the same
// deadline come in the order of insertion.
//
// # Time
//
// Deadlines are on the clock of the driver with which the queue was made. An
// entry never expires before its deadline. It expires at the first tick of the
// driver at or after the deadline (see Sleep for how late that can be). A task
// that polls later gets all entries that have expired in the meantime. A
// deadline in the past is allowed, and a deadline beyond the end of the clock
// never comes.
//
// # The stream
//
// The stream waits while the queue is empty. It ends only when the driver has
// shut down, and then permanently. The remaining entries can still be removed.
//
// A task that waits needs no poll to be woken for a change: an entry that is
// inserted or reset to expire before all others is noticed at once. If the
// first entry is removed or put off, the task may be woken once at the earlier
// deadline, and find no expired entry; in return, removing or putting off takes
// no lock. Only the task that polled last waits.
//
// Each entry given by the stream takes a unit of the task's budget. A `Next()`
// that is destroyed before it is ready takes no entry.
//
// # Use
//
// A queue is for a single thread at a time, and can be neither copied nor
// moved. Destroying the queue destroys its entries. `Insert`, `Reset`,
// `TryRemove` and expiring are O(log n). Only `Insert` allocates, and only if
// `Len()` is `Capacity()`.
template <class T>
class [[nodiscard]] DelayQueue : public DelayQueueBase {
 public:
  // An entry that has left the queue. Moving it throws whatever moving a `T`
  // throws.
  // NOLINTNEXTLINE(bugprone-exception-escape)
  struct Expired {
    DelayKey key;      // no longer names an entry
    Instant deadline;  // when the entry was to expire
    T value;
  };

  // Makes a queue that uses the current driver. A `Panic()` if the thread has
  // no current driver.
  DelayQueue() : DelayQueue(wheel::Handle::Current()) {}
  explicit DelayQueue(const wheel::Handle& handle) : DelayQueueBase(handle) {}

  // Inserts `value`, which expires `delay` from now.
  DelayKey Insert(T value, AnyDuration delay) {
    return InsertAt(std::move(value), Now() + delay);
  }
  DelayKey InsertAt(T value, Instant deadline);

  // Removes and returns an entry. Returns nothing if `key` names no entry.
  std::optional<Expired> TryRemove(DelayKey key);
  // Like `TryRemove()`, but a `Panic()` if `key` names no entry.
  Expired Remove(DelayKey key);

  // Returns the value of an entry, or null if `key` names no entry. The pointer
  // is valid until another value is inserted or the entry leaves the queue.
  T* Get(DelayKey key) {
    return Contains(key) ? &*values_[key.slot_.index()] : nullptr;
  }

  // Removes all entries, and destroys their values. Entries inserted by the
  // destructor of a value stay. O(n) in the number of entries.
  void Clear();

  // Returns how many entries fit without an allocation.
  size_t Capacity() const {
    return std::min(heap_.capacity(), values_.capacity());
  }
  // Makes room for `count` entries, including the present entries.
  void Reserve(size_t count);

  PollResult<std::optional<Expired>> PollNext(Context& cx);

 private:
  std::vector<std::optional<T>> values_;  // indexed by slot
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
        "TryRemove() if this is possible");
  }
  return *std::move(removed);
}

template <class T>
void DelayQueue<T>::Clear() {
  heap::Slot slot = heap_.TakeAll();
  while (slot != heap::Slot()) {
    // Moved out of the slot first, because the value's destructor may insert
    // into this queue.
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
