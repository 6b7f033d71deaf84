// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/quiet_write.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "absl/types/span.h"
#include "rouse/base/atomic.h"
#include "rouse/io/fd/io_vectors.h"

namespace rouse::internal {
namespace {

// Blocks SIGPIPE for this thread while the object exists.
class NoSigPipe {
 public:
  NoSigPipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    // SIGPIPE can be pending only if it was blocked before: otherwise it would
    // have been delivered.
    if (sigismember(&before_, SIGPIPE) == 1) {
      sigset_t pending;
      sigpending(&pending);
      was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    }
  }
  NoSigPipe(const NoSigPipe&) = delete;
  NoSigPipe& operator=(const NoSigPipe&) = delete;
  ~NoSigPipe() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // Removes the signal of the write. Call after a write that has failed with
  // EPIPE, or that was cut short, maybe by EPIPE. Signals do not add up: if a
  // signal was pending before, it belongs to the program, and is still the only
  // one.
  void TakeBack() const {
    if (was_pending_) return;
    const timespec now = {};
    while (sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// Linux's RWF_NOSIGNAL, which older headers lack.
constexpr int kNoSignal = 0x100;

// Whether the kernel supports the flag. The first call that finds no support
// stores false. The value is a fact about the machine, so it needs no order.
Atomic<bool> has_no_signal{true};

}  // namespace

ssize_t QuietWrite(int fd, absl::Span<const std::string_view> parts) {
  if (has_no_signal.load(std::memory_order_relaxed)) {
    IoVectors vectors(parts);
    constexpr off_t kNoOffset = -1;
    const ssize_t size =
        pwritev2(fd, vectors.data(), vectors.size(), kNoOffset, kNoSignal);
    // EPERM and ENOSYS come from a system call filter that does not know
    // pwritev2. Nothing has been written then.
    if (size >= 0 ||
        (errno != EOPNOTSUPP && errno != EPERM && errno != ENOSYS)) {
      return size;
    }
    has_no_signal.store(false, std::memory_order_relaxed);
  }
  return QuietWriteWithMask(fd, parts);
}

ssize_t QuietWriteWithMask(int fd, absl::Span<const std::string_view> parts) {
  IoVectors vectors(parts);
  ssize_t size;
  int error;
  {
    const NoSigPipe no_signal;
    size = writev(fd, vectors.data(), vectors.size());
    error = errno;
    const bool was_cut =
        size < 0 ? error == EPIPE : static_cast<size_t>(size) < vectors.bytes();
    if (was_cut) no_signal.TakeBack();
  }
  errno = error;
  return size;
}

}  // namespace rouse::internal
