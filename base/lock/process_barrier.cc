// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/process_barrier.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/atomic.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/atomic.h"
#else
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "absl/base/attributes.h"
#include "absl/base/call_once.h"
#include "absl/base/optimization.h"
#include "rouse/base/panic.h"
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

// Makes the search choose now, once for all threads.
void ProcessBarrier::Prepare() { static_cast<void>(IsAvailable()); }
void ProcessBarrier::Run() {
  if (IsAvailable()) model::FenceAllThreads();
}

#elif defined(ROUSE_SCALING)

void ProcessBarrier::Prepare() {}
void ProcessBarrier::Run() { scaling::BarrierElsewhere(); }

#else

ABSL_CONST_INIT std::atomic<bool> ProcessBarrier::available{false};

void ProcessBarrier::Prepare() {
  ABSL_CONST_INIT static absl::once_flag once;
  absl::call_once(once, [] {
    const bool registered =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
    available.store(registered, std::memory_order_relaxed);
  });
}

void ProcessBarrier::Run() {
  if (!IsAvailable()) return;
  while (ABSL_PREDICT_FALSE(
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)) {
    // Other threads rely on the barrier.
    if (errno == ENOMEM) continue;
    Panic(
        "ProcessBarrier: membarrier(2) fails although the process has "
        "registered for it; do not forbid membarrier(2) after the program has "
        "started");
  }
}

#endif  // ROUSE_MODEL

}  // namespace rouse
