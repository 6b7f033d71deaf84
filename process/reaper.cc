#include "rouse/process/reaper.h"

#include <sys/types.h>
#include <sys/wait.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/no_destructor.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
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

std::vector<pid_t>& Strays() ABSL_EXCLUSIVE_LOCKS_REQUIRED(strays_mu) {
  static absl::NoDestructor<std::vector<pid_t>> strays;
  return *strays;
}

// Whether there is nothing left to wait for: it has been reaped now, or, by an
// error, by somebody else.
bool Reap(pid_t pid) {
  // NOLINTNEXTLINE(misc-include-cleaner): <sys/wait.h> has WNOHANG
  return waitpid(pid, nullptr, WNOHANG) != 0;
}

struct Orphan {
  Orphan(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd)
      : pid(pid), pidfd(std::move(pidfd)) {}

  const pid_t pid;
  const reactor::AsyncFd<OwnedFd> pidfd;
};

// The orphan is owned by the waker that its own registration keeps. So it lives
// until it has been woken for the last time.
void Watch(const std::shared_ptr<const Orphan>& orphan) {
  const reactor::Registration& registration = orphan->pidfd.registration();
  const Waker waker = Waker::FromCallable([orphan] { Watch(orphan); });
  while (!Reap(orphan->pid)) {
    Context cx(waker);
    const PollResult<absl::StatusOr<reactor::ReadyEvent>> event =
        registration.PollReady(reactor::Direction::kRead, cx);
    if (event.IsPending()) return;
    if (!event->ok()) {
      const ThreadMutexLock lock(&strays_mu);
      Strays().push_back(orphan->pid);
      return;
    }
    registration.WouldBlock(**event);
  }
}

}  // namespace

void ReapLater(pid_t pid, reactor::AsyncFd<OwnedFd> pidfd) {
  ReapStrays();
  Watch(std::make_shared<const Orphan>(pid, std::move(pidfd)));
}

void ReapStrays() {
  const ThreadMutexLock lock(&strays_mu);
  std::erase_if(Strays(), Reap);
}

}  // namespace rouse::internal
