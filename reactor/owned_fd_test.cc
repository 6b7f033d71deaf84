// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/owned_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

int OpenSomething() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

using OwnedFdTest = reactor::FdTest;

TEST_F(OwnedFdTest, ClosesItsDescriptor) {
  const int fd = OpenSomething();
  {
    OwnedFd owned(fd);
    EXPECT_TRUE(owned.IsValid());
    EXPECT_EQ(owned.get(), fd);
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST_F(OwnedFdTest, ANegativeNumberIsNoDescriptor) {
  EXPECT_FALSE(OwnedFd(-1).IsValid());
  EXPECT_FALSE(OwnedFd().IsValid());
}

TEST_F(OwnedFdTest, AMovedFromObjectOwnsNothing) {
  OwnedFd a(OpenSomething());
  const int fd = a.get();
  OwnedFd b(std::move(a));
  EXPECT_FALSE(a.IsValid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(b.get(), fd);
}

TEST_F(OwnedFdTest, AssignmentClosesTheOldDescriptor) {
  OwnedFd a(OpenSomething());
  const int old = a.get();
  OwnedFd b(OpenSomething());
  const int kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_TRUE(IsOpen(kept));
  EXPECT_EQ(a.get(), kept);
}

TEST_F(OwnedFdTest, AReleasedDescriptorStaysOpen) {
  int fd;
  {
    OwnedFd owned(OpenSomething());
    fd = owned.Release();
  }
  EXPECT_TRUE(IsOpen(fd));
  close(fd);
}

}  // namespace
}  // namespace rouse
