#include "rouse/base/futex.h"

#ifndef ROUSE_MODEL

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"

namespace rouse {

static_assert(sizeof(Atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel reads the word itself");

void FutexWait(Atomic<uint32_t>& word, uint32_t expected,
               absl::Duration timeout) {
  timespec relative;
  timespec* limit = nullptr;
  if (timeout != absl::InfiniteDuration()) {
    // Up, so that a deadline less than a nanosecond away is not polled for.
    relative = absl::ToTimespec(absl::Ceil(
        std::max(timeout, absl::ZeroDuration()), absl::Nanoseconds(1)));
    limit = &relative;
  }
  // Every failure (the value differs, a signal, the time is up) means the same
  // to the caller: look again.
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0);
}

void FutexWakeOne(Atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace rouse

#endif  // ROUSE_MODEL
