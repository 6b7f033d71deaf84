// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what a `Command` sets in the child before the program is loaded.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/process/child.h"
#include "rouse/process/command.h"
#include "rouse/process/exit_status.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/process_fixture.h"

namespace rouse {
namespace {

class CommandSettingsTest : public ProcessTest {
 protected:
  // Returns what the command prints.
  std::string Print(const Command& command) {
    absl::StatusOr<ProcessOutput> output = Run(command.Output());
    if (!output.ok()) return std::string(output.status().message());
    return absl::StrCat(output->out, output->err);
  }

  static std::pair<OwnedFd, OwnedFd> MakePipe(int flags = 0) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | flags), 0);
    return {OwnedFd(ends[0]), OwnedFd(ends[1])};
  }

  static std::string ReadSome(const OwnedFd& fd) {
    char buffer[64];
    const ssize_t size = read(fd.get(), buffer, sizeof(buffer));
    return size < 0 ? "error" : std::string(buffer, static_cast<size_t>(size));
  }

  // Returns a new folder, which nobody but the test's user may enter.
  static std::string MakeFolder() {
    std::string path = absl::StrCat(testing::TempDir(), "/folder-XXXXXX");
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    return path;
  }

  static void WriteFile(const std::string& path, std::string_view text,
                        mode_t mode) {
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
  }
};

TEST_F(CommandSettingsTest, Arg0IsTheNameThatTheProgramSees) {
  EXPECT_EQ(Print(Shell("echo $0").Arg0("my name")), "my name\n");
  EXPECT_TRUE(absl::IsInvalidArgument(
      Command("true").Arg0(std::string("a\0b", 3)).Spawn().status()));
}

TEST_F(CommandSettingsTest, AnExtraDescriptorHasItsNumberInTheChild) {
  auto [reading, writing] = MakePipe();
  const Command command = Shell("echo out >&7").ExtraFd(7, std::move(writing));
  EXPECT_EQ(Print(command), "");
  EXPECT_EQ(ReadSome(reading), "out\n");
}

// Setting up one descriptor does not overwrite the source of another.
TEST_F(CommandSettingsTest, ExtraDescriptorsCanSwapTheirNumbers) {
  auto [in_reading, in_writing] = MakePipe();
  auto [out_reading, out_writing] = MakePipe();
  const int in = in_reading.get();
  const int out = out_writing.get();
  ASSERT_EQ(write(in_writing.get(), "text\n", 5), 5);
  const Command command =
      Shell(absl::StrCat("read line <&", out, "; echo $line >&", in))
          .ExtraFd(out, std::move(in_reading))
          .ExtraFd(in, std::move(out_writing));
  EXPECT_EQ(Print(command), "");
  EXPECT_EQ(ReadSome(out_reading), "text\n");
}

TEST_F(CommandSettingsTest, AnExtraDescriptorIsNotMadeBlocking) {
  auto [reading, writing] = MakePipe(O_NONBLOCK);
  const int fd = reading.get();
  const Command command = Command("true").ExtraFd(5, std::move(reading));
  EXPECT_TRUE(Run(command.Run())->IsSuccess());
  EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(CommandSettingsTest, AnExtraDescriptorIsNoStandardStream) {
  const absl::Status status =
      Command("true").ExtraFd(2, OwnedFd(dup(0))).Spawn().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "Stderr()")) << status;
}

TEST_F(CommandSettingsTest, ANumberAboveTheLimitIsInvalid) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const absl::Status status =
      Command("true")
          .ExtraFd(static_cast<int>(limit.rlim_cur), OwnedFd(dup(0)))
          .Spawn()
          .status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "limit of open files"))
      << status;
}

TEST_F(CommandSettingsTest, ANewSessionHasTheChildAsItsLeader) {
  absl::StatusOr<Child> child =
      Command("cat").Stdin(Stdio::Piped()).NewSession().Spawn();
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(getsid(child->pid()), child->pid());
  EXPECT_EQ(getpgid(child->pid()), child->pid());
  EXPECT_TRUE(Run(child->Wait())->IsSuccess());
  EXPECT_TRUE(absl::IsInvalidArgument(
      Command("true").NewSession().ProcessGroup(0).Spawn().status()));
}

TEST_F(CommandSettingsTest, AResourceCanBeLimited) {
  const Command command =
      Shell("ulimit -Sc; ulimit -Hc").ResourceLimit(RLIMIT_CORE, 512, 1024);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &before), 0);
  if (before.rlim_max < 1024) GTEST_SKIP() << "the limit is lower here";
  EXPECT_EQ(Print(command), "1\n2\n");  // blocks
  rlimit after;
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &after), 0);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
}

TEST_F(CommandSettingsTest, AnUnknownResourceIsInvalid) {
  const absl::Status status =
      Command("true").ResourceLimit(99, 1, 2).Spawn().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(
      status.message(), "Command 'true': prlimit of resource 99 to 1 and 2"))
      << status;
}

TEST_F(CommandSettingsTest, IgnoredSignalsStayIgnored) {
  const auto before = signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(Print(Shell("kill -USR1 $$; echo alive")), "alive\n");
  signal(SIGUSR1, before);
}

TEST_F(CommandSettingsTest, HandledSignalsHaveTheirDefaultAction) {
  const auto before = signal(SIGUSR1, [](int) {});
  const absl::StatusOr<ExitStatus> status =
      Run(Shell("kill -USR1 $$; exit 0").Run());
  signal(SIGUSR1, before);
  EXPECT_EQ(status->signal(), SIGUSR1);
}

class PathTest : public CommandSettingsTest {
 protected:
  void SetPath(const std::string& path) {
    before_ = getenv("PATH");
    ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
  }
  ~PathTest() override {
    if (before_.has_value()) setenv("PATH", before_->c_str(), 1);
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(PathTest, TheFirstFolderWithTheProgramWins) {
  const std::string first = MakeFolder();
  const std::string second = MakeFolder();
  WriteFile(first + "/program", "#!/bin/sh\necho first\n", 0644);
  WriteFile(second + "/program", "#!/bin/sh\necho second\n", 0755);
  SetPath(absl::StrCat("/no/such:/dev/null:", first, ":", second, ":/bin"));
  EXPECT_EQ(Print(Command("program")), "second\n");
  ASSERT_EQ(chmod((first + "/program").c_str(), 0755), 0);
  EXPECT_EQ(Print(Command("program")), "first\n");
}

TEST_F(PathTest, AProgramThatMayNotBeRunIsNotCalledMissing) {
  const std::string folder = MakeFolder();
  WriteFile(folder + "/program", "#!/bin/sh\n", 0644);
  SetPath(absl::StrCat(folder, ":/no/such"));
  EXPECT_TRUE(absl::IsPermissionDenied(Command("program").Spawn().status()));
  SetPath("/no/such:/dev/null");
  EXPECT_TRUE(absl::IsNotFound(Command("program").Spawn().status()));
  EXPECT_TRUE(absl::IsNotFound(Command("").Spawn().status()));
}

TEST_F(CommandSettingsTest, OutputKeepsTheBytesUpToItsLimit) {
  const Command command = Shell("printf 12345; printf abc >&2");
  ProcessOutput output = Run(Command(command).OutputLimit(5).Output()).value();
  EXPECT_EQ(output.out, "12345");
  EXPECT_EQ(output.err, "abc");
  EXPECT_FALSE(output.out_truncated);
  EXPECT_FALSE(output.err_truncated);
  output = Run(Command(command).OutputLimit(4).Output()).value();
  EXPECT_EQ(output.out, "1234");
  EXPECT_EQ(output.err, "abc");
  EXPECT_TRUE(output.out_truncated);
  EXPECT_FALSE(output.err_truncated);
  output = Run(Command(command).OutputLimit(0).Output()).value();
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(output.out_truncated);
  EXPECT_TRUE(output.err_truncated);
}

// Otherwise the program would run for ever.
TEST_F(CommandSettingsTest, AProgramThatWritesWithoutEndIsEndedByTheLimit) {
  const ProcessOutput output =
      Run(Command("yes").OutputLimit(100'000).Output()).value();
  EXPECT_EQ(output.out.size(), 100'000u);
  EXPECT_TRUE(output.out_truncated);
  EXPECT_EQ(output.status.signal(), SIGPIPE);
}

// The threads that start children share their memory with the children.
TEST_F(CommandSettingsTest, ManyThreadsCanStartChildren) {
  std::atomic<int> successes{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        absl::StatusOr<Child> child = Shell("exit 7").Spawn(reactor_.handle());
        ASSERT_TRUE(child.ok()) << child.status();
        std::optional<ExitStatus> status;
        while (!status.has_value()) {
          status = child->TryWait().value();
          std::this_thread::yield();
        }
        if (status->code() == 7) ++successes;
        EXPECT_TRUE(absl::IsNotFound(
            Command("/no/such").Spawn(reactor_.handle()).status()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(successes.load(), 100);
}

}  // namespace
}  // namespace rouse
