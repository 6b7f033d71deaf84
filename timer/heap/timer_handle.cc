// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/timer_handle.h"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/timer_core.h"

namespace rouse::heap {
namespace {

// Null at first, and then permanently the owner of one reference.
ABSL_CONST_INIT Atomic<internal::TimerCore*> fallback{nullptr};

}  // namespace

TimerHandle TimerHandle::Defunct(const absl::Status& why) {
  auto core = MakeRef<internal::TimerCore>(
      std::make_shared<Clock>(), absl::UnavailableError(why.message()));
  static_cast<void>(core->changed().TakeAndSeal());
  return TimerHandle(std::move(core));
}

absl::Status TimerHandle::SetAsGlobalFallback() const {
  Ref<internal::TimerCore> reference = core_;
  internal::TimerCore* expected = nullptr;
  // Release pairs with the acquire of GlobalFallback, which uses the core.
  // Relaxed on failure: the other core is not accessed.
  if (!fallback.compare_exchange_strong(expected, core_.get(),
                                        std::memory_order_release,
                                        std::memory_order_relaxed)) {
    return absl::AlreadyExistsError(
        "TimerHandle: a default timer already exists; set the default before "
        "the first Delay is created");
  }
  static_cast<void>(reference.Release());
  return absl::OkStatus();
}

std::optional<TimerHandle> TimerHandle::GlobalFallback() {
  // Acquire pairs with the release of SetAsGlobalFallback.
  internal::TimerCore* const core = fallback.load(std::memory_order_acquire);
  if (core == nullptr) return std::nullopt;
  return TimerHandle(Ref<internal::TimerCore>::Share(core));
}

}  // namespace rouse::heap
