// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/internal/fd_fixture.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::reactor {

size_t CountOpenFds() {
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  size_t entries = 0;
  while (readdir(dir) != nullptr) ++entries;
  closedir(dir);
  // The count includes ".", ".." and the directory itself.
  return entries - 3;
}

std::pair<OwnedFd, OwnedFd> MakeSocketPair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
      0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

void WriteTo(int fd, std::string_view data) {
  ASSERT_EQ(send(fd, data.data(), data.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(data.size()));
}

}  // namespace rouse::reactor
