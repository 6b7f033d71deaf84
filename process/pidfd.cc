// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/pidfd.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rouse::internal {
namespace {

// P_PIDFD, which C libraries have defined only for some years.
constexpr auto kPidFd = static_cast<idtype_t>(3);

// Returns the waitpid(2) status for the end that `info` describes.
int RawStatus(const siginfo_t& info) {
  switch (info.si_code) {
    case CLD_EXITED:
      return (info.si_status & 0xff) << 8;
    case CLD_DUMPED:
      return info.si_status | 0x80;
    default:  // CLD_KILLED
      return info.si_status;
  }
}

}  // namespace

int SendSignalTo(int pidfd, int number) {
  return static_cast<int>(
      syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

int TryWaitFor(pid_t pid, int pidfd, int& raw) {
  siginfo_t info;
  info.si_pid = 0;  // unchanged if the child has not ended
  // NOLINTNEXTLINE(misc-include-cleaner): <sys/wait.h> has the flags
  if (waitid(kPidFd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG) == 0) {
    if (info.si_pid != 0) {
      raw = RawStatus(info);
      return 0;
    }
    errno = EAGAIN;
    return -1;
  }
  if (errno != EINVAL) return -1;
  // NOLINTNEXTLINE(misc-include-cleaner): as above
  const pid_t ended = waitpid(pid, &raw, WNOHANG);
  if (ended == 0) errno = EAGAIN;
  return ended > 0 ? 0 : -1;
}

}  // namespace rouse::internal
