// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: driver.h
// -----------------------------------------------------------------------------
//
// A scheduler's view of the park stack: one driver for all workers, in which at
// most one worker at a time is parked.

#ifndef ROUSE_SCHEDULER_DRIVER_H_
#define ROUSE_SCHEDULER_DRIVER_H_

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/panic.h"
#include "rouse/waker/park.h"

namespace rouse::scheduler {

// AnyDriver
//
// A `Park` of any type. `Unpark()` can be called by any thread, the other
// functions only by the holder of the driver.
class AnyDriver {
 public:
  virtual ~AnyDriver() = default;
  // Does what the function of this name in `Park` or `Unparker` does: see
  // waker/park.h.
  virtual void Park() = 0;
  virtual void ParkFor(absl::Duration limit) = 0;
  virtual void Shutdown() = 0;
  // Prepares a wait of another event loop, and returns its greatest length: see
  // `wheel::Driver`. `ParkFor()` ends the wait. A `Panic()` if the driver
  // cannot wait in another loop.
  virtual absl::Duration PrepareToWait() = 0;
  virtual void Unpark() const = 0;
};

// DriverRef
//
// The `AnyDriver` of a `Park` owned elsewhere, which outlives this object.
template <Park P>
class DriverRef final : public AnyDriver {
 public:
  explicit DriverRef(P& park) : park_(park), unparker_(park.unparker()) {}

  void Park() override { park_.Park(); }
  void ParkFor(absl::Duration limit) override { park_.ParkFor(limit); }
  void Shutdown() override { park_.Shutdown(); }
  absl::Duration PrepareToWait() override {
    if constexpr (requires {
                    { park_.PrepareToWait() } -> std::same_as<absl::Duration>;
                  }) {
      return park_.PrepareToWait();
    } else {
      Panic(
          "DriverRef: this driver cannot wait in another event loop; use a "
          "driver that has PrepareToWait(), such as "
          "wheel::Driver<reactor::Reactor>");
    }
  }
  void Unpark() const override { unparker_.Unpark(); }

 private:
  P& park_;
  const typename P::Unparker unparker_;
};

// SharedDriver
//
// The driver and the right to use it. Occupies a cache line alone, because all
// workers try to get the driver frequently.
class alignas(ABSL_CACHELINE_SIZE) SharedDriver {
 public:
  explicit SharedDriver(std::unique_ptr<AnyDriver> driver)
      : driver_(std::move(driver)) {}

  // Takes the right to use the driver and returns true, unless another thread
  // has the right.
  bool TryHold() {
    // Acquire pairs with the release of Release: the caller sees the driver's
    // state as the previous holder left it. The load avoids writing to the
    // cache line. The load is sequentially consistent, like Release and idle.h:
    // if a worker goes to sleep and then finds the driver held, the holder
    // finds the worker asleep after releasing the driver.
    return !held_.load(std::memory_order_seq_cst) &&
           !held_.exchange(true, std::memory_order_acquire);
  }

  // Returns whether some thread holds the driver. The result may be out of date
  // when the call returns.
  bool IsHeld() const { return held_.load(std::memory_order_relaxed); }

  // Gives up the right to use the driver.
  //
  // REQUIRES: the caller holds the driver.
  void Release() {
    // Relaxed: only holders write `turns_`, one after another, and the count
    // orders nothing.
    turns_.store(turns_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_relaxed);
    // Pairs with the acquire, and with the load, of TryHold.
    held_.store(false, std::memory_order_seq_cst);
  }

  // Returns how many times a holder has released the driver. Relaxed: when
  // comparing two values, a thread may miss a recent release, and then checks
  // for events in vain.
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
