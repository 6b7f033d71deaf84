// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready_list.h
// -----------------------------------------------------------------------------
//
// Records which of many children were woken. The owner of a `ReadyList` gives
// each child the waker of the child's entry. The list then returns the woken
// entries in the order of their wakes, in O(1) for each entry. Internal:
// `FuturesUnordered` and `JoinSet` are built on it.
//
//   list->Register(cx.waker());
//   while (ReadyEntry* entry = list->Pop()) {
//     ... poll the child with a context of `entry->raw_waker()` ...
//   }
//
// # States of an entry
//
// `queued_` is false while a wake has an effect. The first wake sets `queued_`
// to true, and `Rearm()` sets it back. An entry is therefore in the list at
// most once, and an entry that is not rearmed never comes back, regardless of
// any remaining wakers. `Retire()` sets `queued_` to true without a wake.
//
// # References
//
// Each waker has a reference to its entry, and so has the creator of the entry.
// Each entry has a reference to its list. The list has no references to
// entries: before the owner drops an entry that may be in the list, it closes
// the list, or retires the entry. A wake keeps the waker's reference until the
// wake no longer uses the list.

#ifndef ROUSE_FUTURE_MANY_READY_LIST_H_
#define ROUSE_FUTURE_MANY_READY_LIST_H_

#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

class ReadyEntry;

// ReadyList
//
// Belongs to one thread at a time, the owner, except where a function says
// otherwise.
class ReadyList {
 public:
  // The caller owns the first reference.
  ReadyList() = default;
  ReadyList(const ReadyList&) = delete;
  ReadyList& operator=(const ReadyList&) = delete;

  // Add and drop a reference. Can be called from any thread.
  void Ref();
  void Unref();

  // Puts `entry` into the list and wakes the owner. Does nothing if the entry
  // is in the list, if it was taken out and not rearmed, or if the list is
  // closed. Can be called from any thread with a reference to the entry.
  void MarkReady(ReadyEntry* entry);

  // Does what `MarkReady()` does, but wakes nothing: for an owner that does not
  // wait. Returns whether the entry was put into the list.
  bool Push(ReadyEntry* entry);

  // Registers `waker`, to be woken once, when an entry comes. The caller must
  // call `Pop()` afterwards, because an entry may have come before.
  void Register(const Waker& waker) { waker_.Register(waker); }
  // Wakes the registered waker now, unless already woken.
  void Wake() { waker_.Wake(); }
  // Returns the registered waker: nothing is woken any more. Returns the no-op
  // waker if no waker is registered, or if a wake is in progress.
  Waker TakeWaker() { return waker_.Take(); }
  // Drops the registered waker: nothing is woken any more.
  void Deregister() { TakeWaker().Reset(); }

  // Removes and returns the entry that has been in the list longest, or returns
  // null.
  ReadyEntry* Pop();

  // Puts `entry`, which was taken out and not rearmed, at the front of the
  // list.
  void PutBack(ReadyEntry* entry);

  // Allows `entry`, which was taken out, to be woken again. Everything before
  // the previous wakes of the entry is visible to the caller afterwards.
  static void Rearm(ReadyEntry* entry);

  // Makes all wakes of `entry`, which was rearmed, do nothing from now on.
  // Returns whether the caller may drop its reference. Otherwise a wake came
  // before: the entry is or will be in the list, and the caller must keep its
  // reference until `Pop()` returns the entry.
  [[nodiscard]] static bool Retire(ReadyEntry* entry);

  // Forgets all entries. No entry ever comes again, and so no entry wakes the
  // owner.
  void Close();

 private:
  friend class ReadyEntry;

  ~ReadyList() = default;

  // Stands in place of the first entry if the list is closed.
  static ReadyEntry* Closed();

  Atomic<uint64_t> references_{1};
  // The entries that have come, the latest first.
  Atomic<ReadyEntry*> pushed_{nullptr};
  // The entries taken from `pushed_` by the owner, the earliest first.
  ReadyEntry* popped_ = nullptr;
  AtomicWaker waker_;
};

// ReadyEntry
//
// The base of a child. Dropping the last reference, which may belong to a waker
// on any thread, destroys the entry.
class ReadyEntry {
 public:
  // The caller owns the first reference. Adds a reference to `list`.
  explicit ReadyEntry(ReadyList* list) : list_(list) { list_->Ref(); }
  ReadyEntry(const ReadyEntry&) = delete;
  ReadyEntry& operator=(const ReadyEntry&) = delete;

  void Ref();
  void Unref();

  // Returns a waker, for a `BorrowedWaker`. The waker marks the entry ready.
  RawWaker raw_waker();

 protected:
  virtual ~ReadyEntry() { list_->Unref(); }

 private:
  friend class ReadyList;

  ReadyList* const list_;
  Atomic<uint64_t> references_{1};
  Atomic<bool> queued_{false};
  // Belongs to the thread that has set `queued_`, and then to the owner, when
  // the owner takes the entry from the list.
  Cell<ReadyEntry*> next_{nullptr};
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_MANY_READY_LIST_H_
