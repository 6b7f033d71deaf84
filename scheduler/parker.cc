// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/parker.h"

#include <atomic>
#include <cstdint>

#include "absl/cleanup/cleanup.h"
#include "absl/time/time.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/driver.h"

namespace rouse::scheduler {
namespace {

//   kEmpty     The worker runs, and no unpark is pending.
//   kInThread  The worker parks, or is about to park, on its futex.
//   kInDriver  The worker parks, or is about to park, in the driver, which it
//              holds; or another event loop waits for the driver's descriptor.
//   kNotified  An unpark has not been used up by a park yet.
//
//   kEmpty -> kInThread | kInDriver     by the worker, before it parks, or in
//                                       BeginWait()
//   any -> kNotified                    by any thread, which then ends the park
//                                       named by the state
//   kNotified | kIn.. -> kEmpty         by the worker, when it returns
//
// No unpark is lost. If an unpark comes before the worker has named the place
// of its park, the step that names it fails. If an unpark comes later, it goes
// to the parker or driver below, which keeps it.
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kInThread = 1;
constexpr uint32_t kInDriver = 2;
constexpr uint32_t kNotified = 3;

}  // namespace

Parker::Parker(SharedDriver& driver)
    : driver_(driver), thread_unparker_(thread_.unparker()), state_(kEmpty) {}

void Parker::Park() {
  const bool in_driver = driver_.TryHold();
  // Even if the driver calls a waker that throws.
  const absl::Cleanup leave = [this, in_driver] {
    // Acquire pairs with the release of Unpark.
    state_.exchange(kEmpty, std::memory_order_acquire);
    if (in_driver) ROUSE_MUTABLE_CALL(driver_.Release());
  };
  uint32_t state = kEmpty;
  // Relaxed: there is nothing to order yet, and the exchange above acquires.
  if (state_.compare_exchange_strong(state, in_driver ? kInDriver : kInThread,
                                     std::memory_order_relaxed,
                                     std::memory_order_relaxed)) {
    if (in_driver) {
      driver_->Park();
    } else {
      thread_.Park();
    }
  } else if (in_driver) {
    // A worker that is unparked each time, by a main future that yields, must
    // get events all the same (tokio #5223).
    driver_->ParkFor(absl::ZeroDuration());
  }
}

absl::Duration Parker::BeginWait() {
  if (!driver_.TryHold()) {
    Panic(
        "Parker::BeginWait: another worker has the driver; let a single worker "
        "wait in another event loop");
  }
  uint32_t state = kEmpty;
  // Relaxed: there is nothing to order yet, and the exchange in EndWait()
  // acquires. If unparked before, the wait ends at once.
  if (!state_.compare_exchange_strong(state, kInDriver,
                                      std::memory_order_relaxed,
                                      std::memory_order_relaxed)) {
    return absl::ZeroDuration();
  }
  return driver_->PrepareToWait();
}

void Parker::EndWait() {
  // Even if the driver calls a waker that throws.
  const absl::Cleanup leave = [this] {
    // Acquire pairs with the release of Unpark.
    state_.exchange(kEmpty, std::memory_order_acquire);
    ROUSE_MUTABLE_CALL(driver_.Release());
  };
  driver_->ParkFor(absl::ZeroDuration());
}

bool Parker::PollDriver() {
  if (!driver_.TryHold()) return false;
  const absl::Cleanup release = [this] { driver_.Release(); };
  driver_->ParkFor(absl::ZeroDuration());
  return true;
}

bool Parker::IsUnparked() const {
  // Relaxed: Park acquires.
  return state_.load(std::memory_order_relaxed) == kNotified;
}

void Parker::Unpark() {
  // Release pairs with the acquire of Park.
  switch (state_.exchange(kNotified, std::memory_order_release)) {
    case kInThread:
      ROUSE_MUTABLE_CALL(thread_unparker_.Unpark());
      break;
    case kInDriver:
      // If the worker has left the driver in the meantime, this ends the park
      // of the next holder, which only checks for work in vain.
      ROUSE_MUTABLE_CALL(driver_->Unpark());
      break;
    default:
      break;
  }
}

}  // namespace rouse::scheduler
