// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/reaper.h"

#include <sys/types.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/no_destructor.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/process/pidfd.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {
namespace {

ABSL_CONST_INIT ThreadMutex strays_mu(absl::kConstInit);

struct Orphan {
  Orphan(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd)
      : pid(pid), pidfd(std::move(pidfd)) {}

  const pid_t pid;
  reactor::AsyncFd<OwnedFd> pidfd;
};

// An orphan whose reactor was shut down. Keeps no part of the reactor alive.
struct Stray {
  pid_t pid;
  OwnedFd pidfd;
};

std::vector<Stray>& Strays() ABSL_EXCLUSIVE_LOCKS_REQUIRED(strays_mu) {
  static absl::NoDestructor<std::vector<Stray>> strays;
  return *strays;
}

// Returns whether nothing is left to wait for: the child has been reaped now,
// or, as an error shows, by other code.
bool Reap(pid_t pid, int pidfd) {
  int raw;
  return TryWaitFor(pid, pidfd, raw) == 0 || errno != EAGAIN;
}

// The orphan's own registration keeps the waker that owns the orphan. The
// orphan therefore lives until the last wake.
void Watch(const std::shared_ptr<Orphan>& orphan) {
  const reactor::Registration& registration = orphan->pidfd.registration();
  const Waker waker = Waker::FromCallable([orphan] { Watch(orphan); });
  while (!Reap(orphan->pid, orphan->pidfd.fd())) {
    Context cx(waker);
    const PollResult<absl::StatusOr<reactor::ReadyEvent>> event =
        registration.PollReady(reactor::Direction::kRead, cx);
    if (event.IsPending()) return;
    if (!event->ok()) {
      Stray stray{orphan->pid, std::move(orphan->pidfd).IntoInner()};
      const ThreadMutexLock lock(&strays_mu);
      Strays().push_back(std::move(stray));
      return;
    }
    registration.WouldBlock(**event);
  }
}

}  // namespace

void ReapLater(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd) {
  ReapStrays();
  Watch(std::make_shared<Orphan>(pid, std::move(pidfd)));
}

void ReapStrays() {
  const ThreadMutexLock lock(&strays_mu);
  std::erase_if(Strays(), [](const Stray& stray) {
    return Reap(stray.pid, stray.pidfd.get());
  });
}

}  // namespace rouse::internal
