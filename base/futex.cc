// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/futex.h"

#ifndef ROUSE_TWIN

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "absl/base/config.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"

#if defined(ABSL_HAVE_THREAD_SANITIZER) && \
    __has_include(<sanitizer/linux_syscall_hooks.h>)
#include <sanitizer/linux_syscall_hooks.h>
#define ROUSE_SANITIZER_SYSCALL(hook) hook
#else
// GCC comes without the header.
#define ROUSE_SANITIZER_SYSCALL(hook) static_cast<void>(0)
#endif

namespace rouse {

static_assert(sizeof(Atomic<uint32_t>) == sizeof(uint32_t),
              "an atomic must be the same 32-bit word that futex(2) reads");

void FutexWait(Atomic<uint32_t>& word, uint32_t expected,
               absl::Duration timeout) {
  timespec relative;
  timespec* limit = nullptr;
  if (timeout != absl::InfiniteDuration()) {
    // Rounded up, so that a deadline less than a nanosecond away is not polled
    // for.
    relative = absl::ToTimespec(absl::Ceil(
        std::max(timeout, absl::ZeroDuration()), absl::Nanoseconds(1)));
    limit = &relative;
  }
  // TSan holds back the handler of a signal until its thread blocks, and learns
  // of the block only here: otherwise a process whose first thread is parked
  // would not notice SIGTERM.
  ROUSE_SANITIZER_SYSCALL(__sanitizer_syscall_pre_futex(
      &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0));
  // Every failure (the value differs, a signal, the time is up) means the same
  // to the caller: check again.
  [[maybe_unused]] const int64_t result = syscall(
      SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0);
  ROUSE_SANITIZER_SYSCALL(__sanitizer_syscall_post_futex(
      result, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0));
}

void FutexWakeOne(Atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace rouse

#endif  // ROUSE_TWIN
