// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: bell.h
// -----------------------------------------------------------------------------
//
// For signal/ itself: what the handler of a signal shares with the threads that
// install it and that listen. Only atomics and plain data: a handler may use
// nothing else.
//
//   who                     does
//   the installing thread   Install(): writes down what handled the signal
//                           before, and the descriptor, and then has the system
//                           call the handler
//   the handler             Ring(): counts the signal, and then writes to the
//                           descriptor; then calls what handled the signal
//                           before, unless it IsSpent()
//   a listening thread      waits for the descriptor to be written to, and then
//                           looks at count()
//
// The invariant is that who is told by the descriptor finds the signal counted,
// and that the handler finds the descriptor.
//
// The operating system has two parts in this. What a thread does before it
// installs a handler is visible to the handler, on whatever thread it runs: the
// system's lock on the table of handlers sees to that. And what a thread does
// before it writes to a descriptor is visible to a thread whose wait that ends.

#ifndef ROUSE_SIGNAL_BELL_H_
#define ROUSE_SIGNAL_BELL_H_

#include <atomic>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"

namespace rouse::internal {

// Bell
//
// Of one signal. Must live as long as the process once the handler has been
// installed. `Previous` is what is known of the handler before.
template <class Previous>
class Bell {
 public:
  static_assert(std::atomic<bool>::is_always_lock_free);
  static_assert(std::atomic<int>::is_always_lock_free);
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  constexpr Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // ---- For installing threads, one at a time, by a lock of theirs.

  // The descriptor that the handler writes to, or -1 while there is no handler.
  int fd() const {
    // Relaxed: it changes under the lock alone.
    return fd_.load(std::memory_order_relaxed);
  }

  // Calls `install()`, which has the system call the handler from now on, and
  // returns whether it could. REQUIRES: there is no handler.
  template <class F>
  bool Install(int fd, const Previous& previous, F install) {
    previous_.Write() = previous;
    // Relaxed: the handler runs after `install()` alone, which orders this
    // before it, as it does `previous_`.
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
    // Release pairs with the acquire of count(): what the signal's sender, if
    // it is in this process, has done is visible to who finds it counted.
    count_.fetch_add(1, std::memory_order_release);
    // Relaxed: see Install.
    write(fd_.load(std::memory_order_relaxed));
  }

  const Previous& previous() const { return previous_.Read(); }

  // For a handler before that was to be called once: whether it has been. False
  // for the first call alone.
  bool IsSpent() {
    // Relaxed: of several calls one finds false, and there is nothing to order.
    return is_spent_.exchange(true, std::memory_order_relaxed);
  }

  // ---- For any thread.

  // How many signals there have been since the handler was installed.
  uint64_t count() const {
    // Acquire pairs with the release of Ring.
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
