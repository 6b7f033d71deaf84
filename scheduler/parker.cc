// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/parker.h"

#include <atomic>
#include <cstdint>

#include "absl/cleanup/cleanup.h"
#include "absl/time/time.h"
#include "rouse/base/mutable_step.h"
#include "rouse/scheduler/driver.h"

namespace rouse::scheduler {
namespace {

//   kEmpty     the worker runs, nothing to tell.
//   kInThread  the worker parks, or is about to, on its futex.
//   kInDriver  the same in the driver, which it holds.
//   kNotified  an unpark that no park has used up yet.
//
//   kEmpty -> kInThread | kInDriver     the worker, before it parks
//   any -> kNotified                    any thread; it then ends the park that
//                                       the state named
//   kNotified | kIn.. -> kEmpty         the worker, when it returns
//
// No unpark is lost: one that comes before the worker has named where it parks
// makes that step fail; one that comes after goes to the parker below, which
// keeps it.
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kInThread = 1;
constexpr uint32_t kInDriver = 2;
constexpr uint32_t kNotified = 3;

}  // namespace

Parker::Parker(SharedDriver& driver)
    : driver_(driver), thread_unparker_(thread_.unparker()), state_(kEmpty) {}

void Parker::Park() {
  const bool in_driver = driver_.TryHold();
  // Also if the driver calls a waker that throws.
  const absl::Cleanup leave = [this, in_driver] {
    // Acquire pairs with the release of Unpark.
    state_.exchange(kEmpty, std::memory_order_acquire);
    if (in_driver) ROUSE_MUTABLE_CALL(driver_.Release());
  };
  uint32_t state = kEmpty;
  // Nothing to order yet: the exchange above acquires.
  if (state_.compare_exchange_strong(state, in_driver ? kInDriver : kInThread,
                                     std::memory_order_relaxed,
                                     std::memory_order_relaxed)) {
    if (in_driver) {
      driver_->Park();
    } else {
      thread_.Park();
    }
  } else if (in_driver) {
    // Whoever is unparked each time, by a main future that yields, has events
    // all the same (tokio #5223).
    driver_->ParkFor(absl::ZeroDuration());
  }
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
      // If the worker has left the driver meanwhile, this ends the park of the
      // next holder: it looks for work in vain, no more.
      ROUSE_MUTABLE_CALL(driver_->Unpark());
      break;
    default:
      break;
  }
}

}  // namespace rouse::scheduler
