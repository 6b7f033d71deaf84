// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/adopt_fd.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/status/status.h"

namespace rouse::internal {

absl::Status AdoptFd(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(O_NONBLOCK)");
  }
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(FD_CLOEXEC)");
  }
  return absl::OkStatus();
}

absl::Status MakeBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(F_SETFL without O_NONBLOCK)");
  }
  return absl::OkStatus();
}

}  // namespace rouse::internal
