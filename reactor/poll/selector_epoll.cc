// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <linux/time_types.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/process_id.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/selector.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/kernel.h"
#endif

namespace rouse::reactor::internal {

namespace {

#ifdef ROUSE_SCALING
// An object, because a function would be ambiguous with the system's.
constexpr auto* epoll_ctl = &scaling::EpollControl;
#endif

// Maximum number of events requested in one call. The next call returns further
// events.
constexpr size_t kMaxEvents = 1024;

uint32_t ToEpoll(Interest interest) {
  uint32_t bits = EPOLLET;
  if (interest.IsReadable()) bits |= EPOLLIN | EPOLLRDHUP;
  if (interest.IsWritable()) bits |= EPOLLOUT;
  if (interest.IsPriority()) bits |= EPOLLPRI;
  return bits;
}

Ready FromEpoll(uint32_t bits) {
  const auto has = [bits](uint32_t all) { return (bits & all) == all; };
  Ready ready;
  if (has(EPOLLIN) || has(EPOLLPRI)) ready |= Ready::kReadable;
  if (has(EPOLLOUT)) ready |= Ready::kWritable;
  // The most frequent events have no other bits.
  if ((bits & ~uint32_t{EPOLLIN | EPOLLOUT}) == 0) return ready;
  if (has(EPOLLHUP) || has(EPOLLIN | EPOLLRDHUP)) ready |= Ready::kReadClosed;
  // The writing end of a pipe gets an error without any other bit.
  if (has(EPOLLHUP) || has(EPOLLOUT | EPOLLERR) || bits == EPOLLERR) {
    ready |= Ready::kWriteClosed;
  }
  if (has(EPOLLPRI)) ready |= Ready::kPriority;
  if (has(EPOLLERR)) ready |= Ready::kError;
  return ready;
}

absl::Status Control(int epoll, int operation, const char* name, int fd,
                     Token token, uint32_t bits) {
  epoll_event event;
  event.events = bits;
  event.data.u64 = token.value();
  if (epoll_ctl(epoll, operation, fd, &event) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrCat("epoll_ctl(", name, ") for descriptor ", fd));
}

#ifdef ROUSE_SCALING

int Wait(int epoll, epoll_event* events, int capacity, absl::Duration timeout) {
  return scaling::EpollWait(epoll, events, capacity, timeout);
}

#else

// True until a call shows that the kernel lacks epoll_pwait2, which kernels
// from 5.11 on have. The flag is a fact of the machine, so there is nothing to
// order.
Atomic<bool> has_pwait2{true};

// Calls epoll_pwait2 if there is a time limit to be exact about, else
// epoll_wait.
int Wait(int epoll, epoll_event* events, int capacity, absl::Duration timeout) {
#ifdef SYS_epoll_pwait2
  if (timeout > absl::ZeroDuration() && timeout != absl::InfiniteDuration() &&
      has_pwait2.load(std::memory_order_relaxed)) {
    // Bypasses libc, because older versions lack the function. A duration
    // beyond the range of time_t is clamped, and a fraction of a nanosecond is
    // rounded up.
    const timespec exact =
        absl::ToTimespec(absl::Ceil(timeout, absl::Nanoseconds(1)));
    const __kernel_timespec limit = {exact.tv_sec, exact.tv_nsec};
    const long count = syscall(SYS_epoll_pwait2, epoll, events, capacity,
                               &limit, nullptr, size_t{0});
    // A system call filter without an entry for epoll_pwait2 may return EPERM.
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) {
      return static_cast<int>(count);
    }
    has_pwait2.store(false, std::memory_order_relaxed);
  }
#endif
  return epoll_wait(epoll, events, capacity, TimeoutMillis(timeout));
}

#endif  // ROUSE_SCALING

}  // namespace

int TimeoutMillis(absl::Duration timeout) {
  if (timeout <= absl::ZeroDuration()) return 0;
  if (timeout == absl::InfiniteDuration()) return -1;
  const absl::Duration rounded = absl::Ceil(timeout, absl::Milliseconds(1));
  return static_cast<int>(
      std::min<int64_t>(absl::ToInt64Milliseconds(rounded), INT_MAX));
}

absl::StatusOr<std::shared_ptr<Selector>> Selector::Open() {
  OwnedFd fd(epoll_create1(EPOLL_CLOEXEC));
  if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "epoll_create1");
  return std::make_shared<Selector>(std::move(fd));
}

absl::Status Selector::Register(int fd, Token token, Interest interest) const {
  return Control(fd_.get(), EPOLL_CTL_ADD, "ADD", fd, token, ToEpoll(interest));
}

absl::Status Selector::Reregister(int fd, Token token,
                                  Interest interest) const {
  return Control(fd_.get(), EPOLL_CTL_MOD, "MOD", fd, token, ToEpoll(interest));
}

absl::Status Selector::Deregister(int fd) const {
  if (ProcessId() != owner_) return absl::OkStatus();
  return Control(fd_.get(), EPOLL_CTL_DEL, "DEL", fd, Token(), 0);
}

absl::Status Selector::Select(Events& events, absl::Duration timeout) const {
  events.Clear();
  epoll_event found[kMaxEvents];
  const int capacity =
      static_cast<int>(std::min(events.capacity(), kMaxEvents));
  const int count = Wait(fd_.get(), found, capacity, timeout);
  if (count < 0) {
    // A signal ends the wait early, which is allowed for any wait.
    if (errno == EINTR) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, "epoll_wait");
  }
  events.size_ = static_cast<size_t>(count);
  for (size_t i = 0; i < events.size_; ++i) {
    events.events_[i] =
        Event(Token(found[i].data.u64), FromEpoll(found[i].events));
  }
  return absl::OkStatus();
}

}  // namespace rouse::reactor::internal
