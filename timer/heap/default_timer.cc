// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/default_timer.h"

#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/timer/heap/helper_thread.h"
#include "rouse/timer/heap/timer_handle.h"

namespace rouse::heap {
namespace {

// Held while the thread is started, so that no two threads are started.
ABSL_CONST_INIT ThreadMutex start_mu(absl::kConstInit);

}  // namespace

TimerHandle DefaultTimer() {
  if (std::optional<TimerHandle> fallback = TimerHandle::GlobalFallback()) {
    return *std::move(fallback);
  }
  const ThreadMutexLock lock(&start_mu);
  if (std::optional<TimerHandle> fallback = TimerHandle::GlobalFallback()) {
    return *std::move(fallback);
  }
  absl::StatusOr<HelperThread> helper = HelperThread::Start();
  if (!helper.ok()) return TimerHandle::Defunct(helper.status());
  TimerHandle handle = helper->handle();
  if (handle.SetAsGlobalFallback().ok()) {
    std::move(*helper).Forget();
    return handle;
  }
  // Another thread has set a different handle meanwhile. The helper thread ends
  // here.
  return *TimerHandle::GlobalFallback();
}

}  // namespace rouse::heap
