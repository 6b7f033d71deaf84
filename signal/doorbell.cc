#include "rouse/signal/doorbell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

// Lives as long as the process: a handler may run at any time.
struct Doorbell {
  // An eventfd, or -1 while there is no handler. Set once, before that is
  // installed.
  Atomic<int> fd{-1};
  Atomic<uint64_t> count{0};
  // What handled the signal before. Written before the handler is installed.
  struct sigaction previous = {};
  // Whether that was to be called once, and has been.
  Atomic<bool> previous_is_spent{false};
};

static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

Doorbell doorbells[NSIG];

// Of installing.
ABSL_CONST_INIT ThreadMutex install_mu(absl::kConstInit);

// Not for `SA_SIGINFO` to say, which may be set beside the others.
bool HasHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Whether the handler before is to be called for this signal.
bool IsToCallPrevious(Doorbell& doorbell) {
  if (!HasHandler(doorbell.previous)) return false;
  // To the system what had SA_RESETHAND would be the default action by now. It
  // may count on that: raise the signal again, for one.
  //
  // Relaxed: of several calls one finds false, and there is nothing to order.
  return (doorbell.previous.sa_flags & SA_RESETHAND) == 0 ||
         !doorbell.previous_is_spent.exchange(true, std::memory_order_relaxed);
}

// Async-signal-safe: atomics and write(2) alone.
void Handle(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  Doorbell& doorbell = doorbells[number];
  // Release pairs with the acquire of CountOf: what the signal's sender, if it
  // is in this process, has done is visible to who hears of it.
  doorbell.count.fetch_add(1, std::memory_order_release);
  const uint64_t one = 1;
  // Every write is an edge, whatever the counter was. Acquire pairs with the
  // release in Install. It cannot fail: nothing fills 64 bits one by one.
  static_cast<void>(
      !write(doorbell.fd.load(std::memory_order_acquire), &one, sizeof one));
  if (IsToCallPrevious(doorbell)) {
    const struct sigaction& previous = doorbell.previous;
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
      previous.sa_sigaction(number, info, context);
    } else {
      previous.sa_handler(number);
    }
  }
  errno = saved_errno;
}

absl::Status ErrorOf(const char* call, int number) {
  return absl::ErrnoToStatus(errno, absl::StrCat(call, " for signal ", number));
}

// Installs the handler, which rings `fd`.
//
// REQUIRES: `install_mu` is held.
absl::Status Install(int number, Doorbell& doorbell, OwnedFd fd) {
  if (sigaction(number, nullptr, &doorbell.previous) != 0) {
    return ErrorOf("sigaction", number);
  }
  // Release pairs with the acquire of Handle.
  doorbell.fd.store(fd.get(), std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = &Handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (HasHandler(doorbell.previous)) {
    // It is called as it was, and no more often; and system calls of other code
    // are interrupted as they were.
    action.sa_flags |=
        doorbell.previous.sa_flags &
        (SA_ONSTACK | SA_NOCLDSTOP | SA_NOCLDWAIT | SA_NODEFER | SA_RESTART);
    action.sa_mask = doorbell.previous.sa_mask;
  } else {
    // So that system calls of other code go on as if there had been nothing.
    action.sa_flags |= SA_RESTART;
  }
  if (sigaction(number, &action, nullptr) != 0) {
    absl::Status status = ErrorOf("sigaction", number);
    // Nothing to order: no handler was installed, and the lock is held.
    doorbell.fd.store(-1, std::memory_order_relaxed);
    return status;
  }
  static_cast<void>(fd.Release());
  return absl::OkStatus();
}

}  // namespace

absl::Status ListenTo(int number,
                      absl::FunctionRef<absl::Status(OwnedFd)> join) {
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
      return absl::InvalidArgumentError(absl::StrCat(
          "signal ", number, " cannot be listened to: no process is told"));
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
    case SIGBUS:
      return absl::InvalidArgumentError(absl::StrCat(
          "signal ", number,
          " cannot be listened to: the code that caused it cannot go on"));
    default:
      break;
  }
  if (number <= 0 || number >= NSIG) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no signal ", number));
  }
  Doorbell& doorbell = doorbells[number];
  const ThreadMutexLock lock(&install_mu);
  // Changes under the lock alone: nothing to order.
  int fd = doorbell.fd.load(std::memory_order_relaxed);
  OwnedFd made;
  if (fd < 0) {
    made.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!made.IsValid()) return ErrorOf("eventfd", number);
    fd = made.get();
  }
  OwnedFd theirs(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!theirs.IsValid()) return ErrorOf("fcntl(F_DUPFD_CLOEXEC)", number);
  absl::Status joined = join(std::move(theirs));
  // The handler comes last: it takes away what the signal did before, and
  // stays.
  if (!joined.ok() || !made.IsValid()) return joined;
  return Install(number, doorbell, std::move(made));
}

uint64_t CountOf(int number) {
  // Acquire pairs with the release of Handle.
  return doorbells[number].count.load(std::memory_order_acquire);
}

}  // namespace rouse::internal
