// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: driver.h
// -----------------------------------------------------------------------------
//
// The park stack as a scheduler sees it: one driver that all its workers share,
// of which one at a time may be parked in it.

#ifndef ROUSE_SCHEDULER_DRIVER_H_
#define ROUSE_SCHEDULER_DRIVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/waker/park.h"

namespace rouse::scheduler {

// AnyDriver
//
// A `Park` of whatever type. `Unpark()` is for any thread, the rest for the one
// that holds the driver.
class AnyDriver {
 public:
  virtual ~AnyDriver() = default;
  virtual void Park() = 0;
  virtual void ParkFor(absl::Duration limit) = 0;
  virtual void Shutdown() = 0;
  virtual void Unpark() const = 0;
};

// The `AnyDriver` of a `Park` that lives elsewhere, and longer.
template <Park P>
class DriverRef final : public AnyDriver {
 public:
  explicit DriverRef(P& park) : park_(park), unparker_(park.unparker()) {}

  void Park() override { park_.Park(); }
  void ParkFor(absl::Duration limit) override { park_.ParkFor(limit); }
  void Shutdown() override { park_.Shutdown(); }
  void Unpark() const override { unparker_.Unpark(); }

 private:
  P& park_;
  const typename P::Unparker unparker_;
};

// SharedDriver
//
// The driver and the right to it. On a cache line of its own: each worker tries
// to get it all the time.
class alignas(ABSL_CACHELINE_SIZE) SharedDriver {
 public:
  explicit SharedDriver(std::unique_ptr<AnyDriver> driver)
      : driver_(std::move(driver)) {}

  // Takes the right to use the driver, unless another thread has it.
  bool TryHold() {
    // Acquire pairs with the release of Release: the driver's own state is what
    // the holder before has left. The load spares the cache line; sequentially
    // consistent, as Release and idle.h: whoever goes to sleep and then finds
    // the driver held is found asleep by the holder after it has released it.
    return !held_.load(std::memory_order_seq_cst) &&
           !held_.exchange(true, std::memory_order_acquire);
  }

  // Whether some thread does. Out of date by the time it returns.
  bool IsHeld() const { return held_.load(std::memory_order_relaxed); }

  // REQUIRES: the caller holds it.
  void Release() {
    // Relaxed: only holders write it, one after another, and it orders nothing.
    turns_.store(turns_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_relaxed);
    // Pairs with the acquire, and with the load, of TryHold.
    held_.store(false, std::memory_order_seq_cst);
  }

  // How many holders it has had that have released it. Relaxed: who compares
  // two of these may take a late one for none, and then looks in vain.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

  AnyDriver& operator*() { return *driver_; }
  AnyDriver* operator->() { return driver_.get(); }

 private:
  Atomic<bool> held_{false};
  Atomic<uint64_t> turns_{0};
  const std::unique_ptr<AnyDriver> driver_;
};

}  // namespace rouse::scheduler

#endif  // ROUSE_SCHEDULER_DRIVER_H_
