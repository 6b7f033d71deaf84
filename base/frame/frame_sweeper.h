// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_sweeper.h
// -----------------------------------------------------------------------------
//
// Implements the part of `FramePool` (frame_pool.h) that finds memory that is
// no longer needed: `FrameSweeper` visits the heaps of the threads from time to
// time.

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
// Owns a thread, which starts with the first news and is never joined. While
// there is news, the thread sweeps once in every `kPeriod`; otherwise, it
// sleeps. Memory that has been free for a whole period goes back to the depot,
// and memory that the depot has had for another period goes back to the system.
// A forked child has no such thread, so the child keeps the memory.
//
// Thread-safe.
class FrameSweeper {
 public:
  static constexpr std::chrono::milliseconds kPeriod{125};

  enum class Kind : uint8_t {
    kAging,  // memory not needed since the previous sweep
    kAll,    // all free memory
  };

  // Represents a heap.
  class Client : public IntrusiveListNode<> {
   public:
    Client() = default;
    virtual ~Client() = default;

    // Performs a part of a sweep. Returns whether more parts are left.
    virtual bool SweepStep(Kind kind) noexcept = 0;
    // Returns whether there is work for the next sweep.
    virtual bool HasMore() noexcept = 0;

   private:
    friend class FrameSweeper;

    // Last sweep that visited the client, or that had already begun when the
    // client was added.
    uint64_t sweep_ = 0;
  };

  constexpr FrameSweeper() = default;
  FrameSweeper(const FrameSweeper&) = delete;
  FrameSweeper& operator=(const FrameSweeper&) = delete;

  // Includes `client` in sweeps until `Remove()`, which waits for a step in
  // progress. Neither function may be called with a lock that `SweepStep()`
  // takes.
  void Add(Client* client);
  void Remove(Client* client);

  // Reports that there is work. A sweep that has not yet begun sees everything
  // that the caller did before.
  void Notify() noexcept {
    // Release pairs with the acquire of Sweep: a sweep that has reset the flag
    // sees everything that the caller did. The exchange is not preceded by a
    // load, because a load of an old 1 would order nothing. (No model can
    // distinguish the orders of news_ from relaxed orders: they forbid load
    // buffering between this flag and the word that the news is about, which
    // the checker does not explore. See docs/reference/model.md.)
    if (news_.exchange(1, std::memory_order_release) == 0) Wake();
  }

  // Like `Notify()`, but for a caller that holds a lock which `SweepStep()`
  // takes.
  void NotifyLocked() noexcept {
    // The lock provides the order. A sweep that takes the lock later sees the
    // new work. A sweep that took the lock before had already reset the flag,
    // so a flag that is still set announces a later sweep.
    if (!HasNews()) Notify();
  }

#ifdef ROUSE_MODEL
  // Forgets the state that a failed execution has left.
  void StartOver() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    new (&clients_) IntrusiveList<Client>();
    sweep_ = 0;
  }
#endif

  // Returns whether a sweep is due. Orders nothing.
  bool HasNews() const { return news_.load(std::memory_order_relaxed) != 0; }

  // Sweeps now. Called by the sweeper's thread, by `FramePool::Trim()` and by
  // tests. Returns whether there is more to do, in a period.
  bool Sweep(Kind kind) noexcept;

  // Prevents the start of the thread, for tests that sweep themselves. Must be
  // called before there is news.
  void DoWithoutThread() { has_thread_.store(true, std::memory_order_relaxed); }

 private:
  void Wake() noexcept;
  [[noreturn]] void RunThread();

  // 1 while a sweep is due. The thread sleeps while the value is 0.
  Atomic<uint32_t> news_{0};
  Atomic<bool> has_thread_{false};

  // Held for a whole sweep; before mu_.
  ThreadMutex sweep_mu_{absl::kConstInit};
  // Held for a step; before the locks of clients.
  ThreadMutex mu_{absl::kConstInit};
  // The clients that still follow in this sweep are first.
  IntrusiveList<Client> clients_ ABSL_GUARDED_BY(mu_);
  uint64_t sweep_ ABSL_GUARDED_BY(mu_) = 0;
};

// Returns the sweeper of the process. The sweeper is never destroyed, because
// threads outlive static objects.
FrameSweeper& TheFrameSweeper();

}  // namespace rouse::internal

#endif  // ROUSE_BASE_FRAME_FRAME_SWEEPER_H_
