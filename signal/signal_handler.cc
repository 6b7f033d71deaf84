// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/signal_handler.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/signal/bell.h"

namespace rouse::internal {
namespace {

// Each lives as long as the process: a handler may run at any time. What
// handled the signal before is that of `sigaction(2)`.
using Doorbell = Bell<struct sigaction>;
ABSL_CONST_INIT Doorbell doorbells[NSIG];

// Of installing.
ABSL_CONST_INIT ThreadMutex install_mu(absl::kConstInit);

// Not for `SA_SIGINFO` to say, which may be set beside the others.
bool HasHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Whether the handler before is to be called for this signal.
bool IsToCallPrevious(Doorbell& doorbell) {
  const struct sigaction& previous = doorbell.previous();
  if (!HasHandler(previous)) return false;
  // To the system what had SA_RESETHAND would be the default action by now. It
  // may count on that: raise the signal again, for one.
  return (previous.sa_flags & SA_RESETHAND) == 0 || !doorbell.IsSpent();
}

// Async-signal-safe: atomics and write(2) alone.
void Handle(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  Doorbell& doorbell = doorbells[number];
  // Every write is an edge, whatever the counter was. It cannot fail: nothing
  // fills 64 bits one by one.
  doorbell.Ring([](int fd) {
    const uint64_t one = 1;
    static_cast<void>(!write(fd, &one, sizeof one));
  });
  if (IsToCallPrevious(doorbell)) {
    const struct sigaction& previous = doorbell.previous();
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
  struct sigaction previous = {};
  if (sigaction(number, nullptr, &previous) != 0) {
    return ErrorOf("sigaction", number);
  }
  struct sigaction action = {};
  action.sa_sigaction = &Handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (HasHandler(previous)) {
    // It is called as it was, and no more often; and system calls of other code
    // are interrupted as they were.
    action.sa_flags |=
        previous.sa_flags &
        (SA_ONSTACK | SA_NOCLDSTOP | SA_NOCLDWAIT | SA_NODEFER | SA_RESTART);
    action.sa_mask = previous.sa_mask;
  } else {
    // So that system calls of other code go on as if there had been nothing.
    action.sa_flags |= SA_RESTART;
  }
  if (!doorbell.Install(fd.get(), previous, [number, &action] {
        return sigaction(number, &action, nullptr) == 0;
      })) {
    return ErrorOf("sigaction", number);
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
  int fd = doorbell.fd();
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

uint64_t CountOf(int number) { return doorbells[number].count(); }

}  // namespace rouse::internal
