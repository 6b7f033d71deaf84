// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: process_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for the tests in process/.

#ifndef ROUSE_TESTING_INTERNAL_PROCESS_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_PROCESS_FIXTURE_H_

#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/command.h"
#include "rouse/testing/internal/reactor_fixture.h"

namespace rouse {

// A fixture with a current reactor. At the end it checks the number of open
// descriptors, and that no child is left.
class ProcessTest : public reactor::CurrentReactorTest {
 protected:
  ~ProcessTest() override { EXPECT_TRUE(HasNoChildren()); }

  // Returns whether no child exists, not even a zombie.
  static bool HasNoChildren() {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
           errno == ECHILD;
  }

  std::string ReadAll(const ChildStdout& pipe) {
    std::string all;
    char buffer[64];
    for (;;) {
      const size_t size = Run(pipe.Read(absl::MakeSpan(buffer))).value();
      if (size == 0) return all;
      all.append(buffer, size);
    }
  }

  static Command Shell(std::string script) {
    return Command("sh").Arg("-c").Arg(std::move(script));
  }
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_PROCESS_FIXTURE_H_
