// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/thread_parker.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cycle_clock.h"
#include "rouse/base/futex.h"
#include "rouse/base/lock/adaptive_spin.h"
#include "rouse/base/lock/spin_hint.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/thread_local.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

//   kEmpty     no thread parks, and there is no unpark.
//   kParked    the parking thread blocks in the kernel, or is about to.
//   kNotified  an unpark that no park has used up yet.
//
//   kEmpty -> kParked            the parking thread; the kernel then blocks the
//                                thread for as long as the state is kParked
//   kEmpty|kParked -> kNotified  any unparking thread; it wakes the kernel's
//                                sleeper if the state was kParked
//   kNotified|kParked -> kEmpty  the parking thread, when it returns
//
// No unpark is lost: only the parking thread leaves kNotified, with the
// exchange that precedes its return.
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kParked = 1;
constexpr uint32_t kNotified = 2;

#ifndef ROUSE_MODEL
// Number of checks before a thread lets other threads run: about two
// microseconds.
constexpr int kLooksBeforeYield = 48;
#endif

#ifndef ROUSE_MODEL  // where spinning gains nothing

// Belongs to a thread, and not to a parker, because many parkers exist for a
// single wait.
AdaptiveSpin& SpinHere() {
  return ThreadLocal<AdaptiveSpin, class SpinHereTag>::Get();
}

double CyclesPerNanosecond() {
  static const double cycles = CycleClock::PerNanosecond();
  return cycles;
}

#endif  // ROUSE_MODEL

}  // namespace

struct ThreadParker::Inner {
  Atomic<uint32_t> state{kEmpty};
  Atomic<size_t> references{1};

  static Inner* From(void* data) { return static_cast<Inner*>(data); }

  void Unpark() {
    // Release pairs with the acquire with which the parking thread leaves
    // kNotified, so that everything the unparking thread did before is visible
    // to the parking thread. For the same reason this is always an exchange,
    // even from kNotified.
    if (state.exchange(kNotified, std::memory_order_release) == kParked) {
      FutexWakeOne(state);
    }
  }

  void Ref() {
    // Relaxed: the caller has a reference, so the count cannot reach zero.
    references.fetch_add(1, std::memory_order_relaxed);
  }

  void Unref() {
    // Release pairs with the acquire of the last reference, so that all use
    // comes before the delete.
    if (MutableCondition(references.fetch_sub(1, std::memory_order_acq_rel) ==
                         1)) {
      delete this;
    }
  }
};

constinit const RawWakerVTable ThreadParker::kVTable = {
    [](void* data) {
      Inner::From(data)->Ref();
      return RawWaker{data, &kVTable};
    },
    [](void* data) {
      Inner::From(data)->Unpark();
      Inner::From(data)->Unref();
    },
    [](void* data) { Inner::From(data)->Unpark(); },
    [](void* data) { Inner::From(data)->Unref(); },
};

ThreadParker::Unparker::Unparker(const Unparker& other)
    : waker_(other.waker_.Clone()) {}

ThreadParker::Unparker& ThreadParker::Unparker::operator=(
    const Unparker& other) {
  waker_ = other.waker_.Clone();
  return *this;
}

ThreadParker::ThreadParker() : inner_(new Inner) {}

ThreadParker::~ThreadParker() { inner_->Unref(); }

ThreadParker::Unparker ThreadParker::unparker() const {
  inner_->Ref();
  return Unparker(Waker(RawWaker{inner_, &kVTable}));
}

void ThreadParker::Park() {
  // The loop distinguishes a park that ended for no reason from an unpark, and
  // continues.
  uint32_t state = kEmpty;
  // There is nothing to order yet: the exchange below acquires.
  if (inner_->state.compare_exchange_strong(state, kParked,
                                            std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
    do {
      FutexWait(inner_->state, kParked);
    } while (MutableCondition(inner_->state.load(std::memory_order_relaxed) ==
                              kParked));
  }
  // Acquire pairs with the release of Unpark.
  inner_->state.exchange(kEmpty, std::memory_order_acquire);
}

void ThreadParker::SpinThenPark() {
#ifdef ROUSE_MODEL
  Park();
#else
  if (!CanSpin()) return Park();
  AdaptiveSpin& spin = SpinHere();
  if (spin.ShouldSpin()) {
    static const auto limit =
        static_cast<uint64_t>(absl::ToDoubleNanoseconds(AdaptiveSpin::kLimit) *
                              CyclesPerNanosecond());
    const uint64_t start = CycleClock::Now();
    int looks = 0;
    const bool found = SpinFor(limit, [this, &looks] {
      // If there are more threads than processors, the awaited thread may be
      // without a processor.
      if (++looks > kLooksBeforeYield) YieldHint();
      // Relaxed: Park acquires. Park returns at once if there was an unpark.
      return inner_->state.load(std::memory_order_relaxed) == kNotified;
    });
    // If other threads have had the processor for a long time, sleeping is
    // better.
    if (found && CycleClock::Now() - start < 2 * limit) {
      spin.OnFound();
    } else {
      spin.OnFoundNothing();
    }
    Park();
  } else {
    const uint64_t start = CycleClock::Now();
    Park();
    spin.OnWoken(
        absl::Nanoseconds(static_cast<double>(CycleClock::Now() - start) /
                          CyclesPerNanosecond()));
  }
#endif  // ROUSE_MODEL
}

void ThreadParker::ParkFor(absl::Duration limit) {
  uint32_t state = kEmpty;
  // Relaxed as in Park.
  if (limit > absl::ZeroDuration() &&
      inner_->state.compare_exchange_strong(state, kParked,
                                            std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
    FutexWait(inner_->state, kParked, limit);
  }
  // Acquire pairs with the release of Unpark.
  inner_->state.exchange(kEmpty, std::memory_order_acquire);
}

void ThreadParker::Shutdown() { inner_->Unpark(); }

}  // namespace rouse
