// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/process_id.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(ProcessIdTest, ReturnsTheIdOfTheProcess) {
  EXPECT_EQ(ProcessId(), getpid());
  EXPECT_EQ(ProcessId(), getpid());
}

TEST(ProcessIdTest, AForkedProcessHasItsOwnId) {
  EXPECT_EQ(ProcessId(), getpid());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const pid_t first = ProcessId();
    const pid_t second = ProcessId();
    _exit(first == getpid() && second == first ? 0 : 1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ProcessId(), getpid());
}

}  // namespace
}  // namespace rouse
