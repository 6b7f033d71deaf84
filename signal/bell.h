// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: bell.h
// -----------------------------------------------------------------------------
//
// Internal to signal/: state shared by a signal handler, the threads that
// install the handler, and the threads that listen. The state is only atomics
// and plain data, because a handler can use nothing else.
//
//   thread                  steps
//   the installing thread   Install(): records the previous handler of the
//                           signal and the descriptor, and then has the system
//                           call the new handler.
//   the handler             Ring(): counts the signal, and then writes to the
//                           descriptor. Afterwards the handler calls the
//                           previous handler, unless it IsSpent().
//   a listening thread      Waits for a write to the descriptor, and then reads
//                           count().
//
// The invariant is that a thread notified by the descriptor finds the signal
// counted, and that the handler finds the descriptor.
//
// The operating system gives two guarantees for the invariant. Actions before
// the installation of a handler are visible to the handler, on any thread,
// because of the system's lock on the table of handlers. Actions before a write
// to a descriptor are visible to a thread whose wait is ended by the write.

#ifndef ROUSE_SIGNAL_BELL_H_
#define ROUSE_SIGNAL_BELL_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"

namespace rouse::internal {

// Bell
//
// The bell of a signal. Must exist as long as the process once the handler has
// been installed. `Previous` describes the previous handler.
template <class Previous>
class Bell {
 public:
  static_assert(std::atomic<bool>::is_always_lock_free);
  static_assert(std::atomic<int>::is_always_lock_free);
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  constexpr Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // ---- For installing threads, serialized by their own lock.

  // Returns the descriptor to which the handler writes, or -1 while there is no
  // handler.
  int fd() const {
    // Relaxed: changes only under the lock.
    return fd_.load(std::memory_order_relaxed);
  }

  // Calls `install()`, which has the system call the handler from now on, and
  // returns whether `install()` succeeded.
  //
  // REQUIRES: There is no handler.
  template <class F>
  bool Install(int fd, const Previous& previous, F install) {
    previous_.Write() = previous;
    // Relaxed: the handler runs only after `install()`, which orders the store
    // before the handler. The same holds for `previous_`.
    fd_.store(fd, std::memory_order_relaxed);
    if (install()) return true;
    // Relaxed: there is no handler, and the lock is held.
    fd_.store(-1, std::memory_order_relaxed);
    return false;
  }

  // ---- For the handler, which may run on several threads at once.

  // Counts a signal, and calls `write(fd)`.
  template <class F>
  void Ring(F write) {
    // Release pairs with the acquire in count(): actions of the signal's
    // sender, if the sender is in this process, are visible to a thread that
    // finds the signal counted.
    count_.fetch_add(1, std::memory_order_release);
    // Relaxed: see Install().
    write(fd_.load(std::memory_order_relaxed));
  }

  const Previous& previous() const { return previous_.Read(); }

  // Returns whether a previous handler that is to be called only once has
  // already been called. Returns false only to the first call.
  bool IsSpent() {
    // Relaxed: exactly one of several calls finds false, and nothing needs an
    // order.
    return is_spent_.exchange(true, std::memory_order_relaxed);
  }

  // ---- For any thread.

  // Returns how many signals have arrived since the handler was installed.
  uint64_t count() const {
    // Acquire pairs with the release in Ring().
    return count_.load(std::memory_order_acquire);
  }

 private:
  Atomic<int> fd_{-1};
  Atomic<uint64_t> count_{0};
  Cell<Previous> previous_;
  Atomic<bool> is_spent_{false};
};

}  // namespace rouse::internal

#endif  // ROUSE_SIGNAL_BELL_H_
