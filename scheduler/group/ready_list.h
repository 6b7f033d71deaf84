// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready_list.h
// -----------------------------------------------------------------------------
//
// Which of many children has been woken. Who polls a `ReadyList` gives each
// child the waker of its entry, and is told, in O(1) for each, which entries
// were woken, in that order. Internal to the scheduler: `JoinSet` is built on
// it.
//
//   list->Register(cx.waker());
//   while (ReadyEntry* entry = list->Pop()) {
//     ... poll the child with a context of `entry->raw_waker()` ...
//   }
//
// # States of an entry
//
// `queued_` is false while a wake is to have an effect, and true from the wake
// that finds it so until `Rearm()`. So an entry is in the list once at the
// most, and one that is not rearmed never comes back, whoever still has its
// waker.
//
// # References
//
// Each waker has one to its entry, whoever made the entry has one, and an entry
// has one to its list. The list has none to what is in it: it is closed before
// its owner lets go of an entry that may be there. A wake holds the waker's
// reference until it has done with the list.

#ifndef ROUSE_SCHEDULER_GROUP_READY_LIST_H_
#define ROUSE_SCHEDULER_GROUP_READY_LIST_H_

#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"

namespace rouse::scheduler {

class ReadyEntry;

// ReadyList
//
// Belongs to one thread at a time, its owner, but for what says otherwise.
class ReadyList {
 public:
  // Starts with one reference, the caller's.
  ReadyList() = default;
  ReadyList(const ReadyList&) = delete;
  ReadyList& operator=(const ReadyList&) = delete;

  // Any thread.
  void Ref();
  void Unref();

  // Puts `entry` into the list and wakes the owner, unless it is there, has
  // been taken out and not been rearmed, or the list is closed. Any thread that
  // has a reference to the entry.
  void MarkReady(ReadyEntry* entry);

  // Whom to wake, once, when an entry comes. `Pop()` is to be asked after this,
  // since an entry may have come before.
  void Register(const Waker& waker) { waker_.Register(waker); }
  // Wakes it at once, if it has not been.
  void Wake() { waker_.Wake(); }
  // Wakes nobody any more.
  void Deregister() { waker_.Take().Reset(); }

  // The entry that has been here longest, or null.
  ReadyEntry* Pop();

  // Has `entry`, which was taken out and not rearmed, come next.
  void PutBack(ReadyEntry* entry);

  // Lets `entry`, which was taken out, be woken again. All that came before the
  // wakes that it has had until now is visible then.
  static void Rearm(ReadyEntry* entry);

  // Forgets all entries; none ever comes again, and so nobody is woken by one.
  void Close();

 private:
  friend class ReadyEntry;

  ~ReadyList() = default;

  // In place of a first entry: the list is closed.
  static ReadyEntry* Closed();

  Atomic<uint64_t> references_{1};
  // Those that have come, the last one first.
  Atomic<ReadyEntry*> pushed_{nullptr};
  // Those that the owner has taken from there, the first one first.
  ReadyEntry* popped_ = nullptr;
  AtomicWaker waker_;
};

// ReadyEntry
//
// The base of a child. The last reference, which may be that of a waker on any
// thread, destroys it.
class ReadyEntry {
 public:
  // Starts with one reference, the caller's. Takes one to `list`.
  explicit ReadyEntry(ReadyList* list) : list_(list) { list_->Ref(); }
  ReadyEntry(const ReadyEntry&) = delete;
  ReadyEntry& operator=(const ReadyEntry&) = delete;

  void Ref();
  void Unref();

  // For a `BorrowedWaker`: marks the entry ready.
  RawWaker raw_waker();

 protected:
  virtual ~ReadyEntry() { list_->Unref(); }

 private:
  friend class ReadyList;

  ReadyList* const list_;
  Atomic<uint64_t> references_{1};
  Atomic<bool> queued_{false};
  // Of who has set `queued_`, and then of who takes it from the list.
  Cell<ReadyEntry*> next_{nullptr};
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_GROUP_READY_LIST_H_
