// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests children with another user. Runs outside of Bazel's sandbox, where root
// has no other users.

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/process/child.h"
#include "rouse/process/command.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/process_fixture.h"

namespace rouse {
namespace {

constexpr uid_t kNobody = 65534;

class CommandUserTest : public ProcessTest {
 protected:
  void SetUp() override {
    if (!CanChangeUser()) GTEST_SKIP() << "this process cannot change its user";
  }

  // Returns what the command prints.
  std::string Print(const Command& command) {
    absl::StatusOr<ProcessOutput> output = Run(command.Output());
    if (!output.ok()) return std::string(output.status().message());
    return absl::StrCat(output->out, output->err);
  }

 private:
  static bool CanChangeUser() {
    const pid_t pid = fork();
    if (pid == 0) {
      const gid_t group = 1;
      _exit(setgroups(1, &group) == 0 && setuid(kNobody) == 0 ? 0 : 1);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
  }
};

TEST_F(CommandUserTest, AChildCanHaveAnotherUser) {
  EXPECT_EQ(
      Print(Shell("id -u; id -g; id -G").Uid(kNobody).Gid(1).Groups({2, 3})),
      "65534\n1\n1 2 3\n");
  EXPECT_EQ(geteuid(), 0u);
}

TEST_F(CommandUserTest, AnotherUserHasNoSupplementaryGroups) {
  EXPECT_EQ(Print(Shell("id -G").Uid(kNobody).Gid(kNobody)), "65534\n");
}

// The child shares its memory with this process until the program is loaded.
TEST_F(CommandUserTest, AnotherUserLeavesThisProcessDumpable) {
  const int before = prctl(PR_GET_DUMPABLE);
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
  EXPECT_EQ(Print(Shell("id -u").Uid(kNobody)), "65534\n");
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, before), 0);
}

TEST_F(CommandUserTest, TheDirectoryIsEnteredAsTheNewUser) {
  std::string folder = "/tmp/rouse-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(Print(Command("pwd").CurrentDir(folder)), folder + "\n");
  const absl::Status status =
      Command("pwd").CurrentDir(folder).Uid(kNobody).Spawn().status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "chdir to '")) << status;
  EXPECT_EQ(rmdir(folder.c_str()), 0);
}

TEST_F(CommandUserTest, AnErrorNamesTheProgramAndTheStep) {
  const std::pair<int, std::string_view> steps[] = {
      {SYS_setsid, "Command 'true': setsid: "},
      {SYS_dup3, "Command 'true': dup3 to 9: "},
      {SYS_setgroups, "Command 'true': setgroups of 1 groups: "},
      {SYS_setresgid, "Command 'true': setresgid to 1: "},
      {SYS_setresuid, "Command 'true': setresuid to 2: "},
      {SYS_chdir, "Command 'true': chdir to '/': "},
      {SYS_execve, "Command 'true': execve: "},
      {SYS_clone, "Command 'true': clone: "},
  };
  const Command command = Command("true")
                              .NewSession()
                              .ExtraFd(9, OwnedFd(fcntl(0, F_DUPFD_CLOEXEC, 3)))
                              .Groups({3})
                              .Gid(1)
                              .Uid(2)
                              .CurrentDir("/");
  const size_t descriptors = reactor::CountOpenFds();
  for (const auto& [call, text] : steps) {
    absl::Status status;
    if (!reactor::WithFailingCalls({call}, EPERM, [&] {
          status = command.Spawn(reactor_.handle()).status();
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), text)) << status;
    EXPECT_EQ(reactor::CountOpenFds(), descriptors);
    EXPECT_TRUE(HasNoChildren());
  }
}

}  // namespace
}  // namespace rouse
