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

// Each bell lives as long as the process, because a handler can run at any
// time. The previous handler is described by the struct of `sigaction(2)`.
using SignalBell = Bell<struct sigaction>;
ABSL_CONST_INIT SignalBell bells[NSIG];

// Serializes installations.
ABSL_CONST_INIT ThreadMutex install_mu(absl::kConstInit);

// `SA_SIGINFO` does not decide, because it may be set even without a handler.
bool HasHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Returns whether the previous handler must be called for this signal.
bool IsToCallPrevious(SignalBell& bell) {
  const struct sigaction& previous = bell.previous();
  if (!HasHandler(previous)) return false;
  // Without Rouse, the system would by now have reset a handler with
  // SA_RESETHAND to the default action. The handler may rely on that, for
  // example by raising the signal again.
  return (previous.sa_flags & SA_RESETHAND) == 0 || !bell.IsSpent();
}

// Async-signal-safe: uses only atomics and write(2).
void Handle(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  SignalBell& bell = bells[number];
  // Every write is an edge, whatever the counter was. The write cannot fail:
  // adding 1 at a time never fills 64 bits.
  bell.Ring([](int fd) {
    const uint64_t one = 1;
    static_cast<void>(!write(fd, &one, sizeof one));
  });
  if (IsToCallPrevious(bell)) {
    const struct sigaction& previous = bell.previous();
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
absl::Status Install(int number, SignalBell& bell, OwnedFd fd) {
  struct sigaction previous = {};
  if (sigaction(number, nullptr, &previous) != 0) {
    return ErrorOf("sigaction", number);
  }
  struct sigaction action = {};
  action.sa_sigaction = &Handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (HasHandler(previous)) {
    // The previous handler is called as before, and no more often; and system
    // calls of other code are interrupted as before.
    action.sa_flags |=
        previous.sa_flags &
        (SA_ONSTACK | SA_NOCLDSTOP | SA_NOCLDWAIT | SA_NODEFER | SA_RESTART);
    action.sa_mask = previous.sa_mask;
  } else {
    // System calls of other code continue as if no signal had arrived.
    action.sa_flags |= SA_RESTART;
  }
  if (!bell.Install(fd.get(), previous, [number, &action] {
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
          "signal ", number,
          " cannot be received: the system calls no handler for it"));
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
    case SIGBUS:
      return absl::InvalidArgumentError(
          absl::StrCat("signal ", number,
                       " cannot be received: the code that caused the signal "
                       "cannot continue"));
    default:
      break;
  }
  if (number <= 0 || number >= NSIG) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a signal number: ", number));
  }
  SignalBell& bell = bells[number];
  for (;;) {
    OwnedFd made;
    OwnedFd theirs;
    {
      const ThreadMutexLock lock(&install_mu);
      int fd = bell.fd();
      if (fd < 0) {
        made.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!made.IsValid()) return ErrorOf("eventfd", number);
        fd = made.get();
      }
      theirs.Reset(fcntl(fd, F_DUPFD_CLOEXEC, 0));
      if (!theirs.IsValid()) return ErrorOf("fcntl(F_DUPFD_CLOEXEC)", number);
    }
    // Without the lock, because registering may log.
    absl::Status joined = join(std::move(theirs));
    // The handler comes last, because it replaces the signal's previous action
    // permanently.
    if (!joined.ok() || !made.IsValid()) return joined;
    const ThreadMutexLock lock(&install_mu);
    if (bell.fd() < 0) return Install(number, bell, std::move(made));
    // Another thread was faster: joins the descriptor of that thread.
  }
}

uint64_t CountOf(int number) { return bells[number].count(); }

}  // namespace rouse::internal
