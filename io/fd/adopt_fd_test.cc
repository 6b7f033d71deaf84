// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/adopt_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(AdoptFdTest, MakesTheDescriptorNonBlockingAndCloseOnExec) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  EXPECT_TRUE(internal::AdoptFd(fds[0]).ok());
  EXPECT_EQ(fcntl(fds[0], F_GETFL), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
  // The other end is another open file.
  EXPECT_EQ(fcntl(fds[1], F_GETFL), O_WRONLY);
  EXPECT_EQ(fcntl(fds[1], F_GETFD), 0);
  close(fds[0]);
  close(fds[1]);
}

TEST(AdoptFdTest, KeepsTheOtherFlags) {
  const int fd = open("/dev/null", O_WRONLY | O_APPEND);
  ASSERT_GE(fd, 0);
  const int before = fcntl(fd, F_GETFL);
  EXPECT_TRUE(internal::AdoptFd(fd).ok());
  EXPECT_EQ(fcntl(fd, F_GETFL), before | O_NONBLOCK);
  close(fd);
}

TEST(AdoptFdTest, MakesTheDescriptorBlockingAgain) {
  const int fd = open("/dev/null", O_WRONLY | O_APPEND);
  ASSERT_GE(fd, 0);
  const int before = fcntl(fd, F_GETFL);
  EXPECT_TRUE(internal::AdoptFd(fd).ok());
  EXPECT_TRUE(internal::MakeBlocking(fd).ok());
  EXPECT_EQ(fcntl(fd, F_GETFL), before);
  close(fd);
  EXPECT_EQ(internal::MakeBlocking(fd).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(AdoptFdTest, AClosedDescriptorIsFailedPrecondition) {
  EXPECT_EQ(internal::AdoptFd(-1).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace rouse
