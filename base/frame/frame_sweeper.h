// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_sweeper.h
// -----------------------------------------------------------------------------
//
// The part of `FramePool` (frame_pool.h) that finds what is not needed any
// more: `FrameSweeper` goes over the heaps of the threads from time to time.

#ifndef ROUSE_BASE_FRAME_FRAME_SWEEPER_H_
#define ROUSE_BASE_FRAME_FRAME_SWEEPER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"

namespace rouse::internal {

// FrameSweeper
//
// Has a thread, which starts with the first news and is never joined. While
// there is news it sweeps, once in `kPeriod`; else it sleeps. What has been
// free for a whole period goes back to the depot, and what the depot has had
// for another goes back to the system. A child that was forked has no such
// thread: there the memory stays.
//
// Thread-safe.
class FrameSweeper {
 public:
  static constexpr std::chrono::milliseconds kPeriod{125};

  enum class Kind : uint8_t {
    kAging,  // what has not been needed since the sweep before
    kAll,    // all that is free
  };

  // A heap.
  class Client : public IntrusiveListNode<> {
   public:
    Client() = default;
    virtual ~Client() = default;

    // Does a part of a sweep. Returns whether there are more.
    virtual bool SweepStep(Kind kind) noexcept = 0;
    // Whether there is something for the next sweep.
    virtual bool HasMore() noexcept = 0;

   private:
    friend class FrameSweeper;

    uint64_t sweep_ = 0;  // the last one that it was in, or was too late for
  };

  constexpr FrameSweeper() = default;
  FrameSweeper(const FrameSweeper&) = delete;
  FrameSweeper& operator=(const FrameSweeper&) = delete;

  // Sweeps `client` too, until `Remove()`, which waits for a step that is being
  // done: neither may be called with a lock that `SweepStep()` takes.
  void Add(Client* client);
  void Remove(Client* client);

  // There will be something to do. What the caller did before is seen by a
  // sweep that is yet to begin.
  void Notify() noexcept {
    // Release pairs with the acquire of Sweep: a sweep that has reset the flag
    // sees what the caller did. Not a load first: one that read an old 1 would
    // order nothing. (No model can tell the orders of news_ from relaxed ones:
    // what they forbid is load buffering, of this flag and the word that the
    // news is about, which the checker does not run. See docs/model.md.)
    if (news_.exchange(1, std::memory_order_release) == 0) Wake();
  }

  // As `Notify()`, for a caller that holds a lock which `SweepStep()` takes.
  void NotifyLocked() noexcept {
    // The lock orders: a sweep that has not seen what is new takes it later,
    // and one that has reset the flag before it took the lock.
    if (!HasNews()) Notify();
  }

#ifdef ROUSE_MODEL
  // Forgets what an execution that has failed has left.
  void StartOver() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    new (&clients_) IntrusiveList<Client>();
    sweep_ = 0;
  }
#endif

  // Whether a sweep is due. Orders nothing.
  bool HasNews() const { return news_.load(std::memory_order_relaxed) != 0; }

  // Sweeps now. The thread calls it; so do `FramePool::Trim()` and tests.
  // Returns whether there is more to do, in a period.
  bool Sweep(Kind kind) noexcept;

  // For tests that sweep themselves. To be called before there is news.
  void DoWithoutThread() { has_thread_.store(true, std::memory_order_relaxed); }

 private:
  void Wake() noexcept;
  [[noreturn]] void RunThread();

  // 1 while a sweep is due. The thread sleeps while it is 0.
  Atomic<uint32_t> news_{0};
  Atomic<bool> has_thread_{false};

  // Held for a whole sweep; before mu_.
  ThreadMutex sweep_mu_{absl::kConstInit};
  // Held for a step; before the locks of clients.
  ThreadMutex mu_{absl::kConstInit};
  // Those that are to come in this sweep are first.
  IntrusiveList<Client> clients_ ABSL_GUARDED_BY(mu_);
  uint64_t sweep_ ABSL_GUARDED_BY(mu_) = 0;
};

// The one of the process. Never destroyed: threads outlive static objects.
FrameSweeper& TheFrameSweeper();

}  // namespace rouse::internal

#endif  // ROUSE_BASE_FRAME_FRAME_SWEEPER_H_
