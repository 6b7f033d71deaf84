// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/process/child.h"
#include "rouse/process/exit_status.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/kept_vlog.h"
#include "rouse/testing/internal/process_fixture.h"

namespace rouse {
namespace {

using CommandTest = ProcessTest;

TEST_F(CommandTest, RunReturnsTheExitCode) {
  EXPECT_TRUE(Run(Command("true").Run())->IsSuccess());
  const ExitStatus status = Run(Shell("exit 3").Run()).value();
  EXPECT_FALSE(status.IsSuccess());
  EXPECT_EQ(status.code(), 3);
  EXPECT_EQ(status.signal(), std::nullopt);
  EXPECT_EQ(absl::StrCat(status), "exit code 3");
}

TEST_F(CommandTest, RunReturnsTheSignal) {
  const ExitStatus status = Run(Shell("kill -TERM $$").Run()).value();
  EXPECT_FALSE(status.IsSuccess());
  EXPECT_EQ(status.code(), std::nullopt);
  EXPECT_EQ(status.signal(), SIGTERM);
  EXPECT_EQ(absl::StrCat(status), "signal 15");
}

TEST_F(CommandTest, OutputReturnsTheWrittenBytes) {
  const ProcessOutput output =
      Run(Shell("echo out; echo err >&2; exit 1").Output()).value();
  EXPECT_EQ(output.out, "out\n");
  EXPECT_EQ(output.err, "err\n");
  EXPECT_EQ(output.status.code(), 1);
}

// The program writes more than both pipes hold, to both in turns.
TEST_F(CommandTest, OutputReadsBothStreamsConcurrently) {
  const ProcessOutput output =
      Run(Shell("head -c 200000 /dev/zero >&2; head -c 300000 /dev/zero; "
                "head -c 200000 /dev/zero >&2")
              .Output())
          .value();
  EXPECT_EQ(output.err.size(), 400000u);
  EXPECT_EQ(output.out.size(), 300000u);
}

TEST_F(CommandTest, OutputHasNoInput) {
  const ProcessOutput output = Run(Command("cat").Output()).value();
  EXPECT_TRUE(output.status.IsSuccess());
  EXPECT_EQ(output.out, "");
}

TEST_F(CommandTest, OutputKeepsConfiguredStreams) {
  const ProcessOutput output =
      Run(Shell("echo out; echo err >&2").Stderr(Stdio::Null()).Output())
          .value();
  EXPECT_EQ(output.out, "out\n");
  EXPECT_EQ(output.err, "");
}

TEST_F(CommandTest, ArgumentsArePassedUnchanged) {
  const ProcessOutput output =
      Run(Command("printf").Args({"%s|", "a b", "$HOME"}).Arg("'*'").Output())
          .value();
  EXPECT_EQ(output.out, "a b|$HOME|'*'|");
}

TEST_F(CommandTest, TheEnvironmentIsInheritedAndCanBeChanged) {
  ASSERT_EQ(setenv("ROUSE_KEPT", "kept", 1), 0);
  ASSERT_EQ(setenv("ROUSE_GONE", "gone", 1), 0);
  const ProcessOutput output =
      Run(Shell("echo $ROUSE_KEPT,$ROUSE_GONE,$ROUSE_NEW")
              .Env("ROUSE_NEW", "new=1")
              .EnvRemove("ROUSE_GONE")
              .Output())
          .value();
  EXPECT_EQ(output.out, "kept,,new=1\n");
}

TEST_F(CommandTest, TheEnvironmentCanBeCleared) {
  const ProcessOutput output = Run(Command("env")
                                       .Env("BEFORE", "1")
                                       .EnvClear()
                                       .Env("AFTER", "2")
                                       .Output())
                                   .value();
  EXPECT_EQ(output.out, "AFTER=2\n");
}

TEST_F(CommandTest, RunsWithoutAnyEnvironment) {
  char** const before = std::exchange(environ, nullptr);  // like clearenv()
  const auto output = Run(Command("/usr/bin/env").Env("NEW", "1").Output());
  environ = before;
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "NEW=1\n");
}

TEST_F(CommandTest, RunsInTheGivenDirectory) {
  EXPECT_EQ(Run(Command("pwd").CurrentDir("/").Output())->out, "/\n");
}

TEST_F(CommandTest, AMissingProgramIsNotFound) {
  const absl::Status status = Command("no-such-program").Spawn().status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_NE(status.message().find("'no-such-program'"), std::string::npos);
  EXPECT_TRUE(absl::IsNotFound(
      Command("true").CurrentDir("/no/such/directory").Spawn().status()));
  EXPECT_TRUE(absl::IsNotFound(Run(Command("/no/such").Run()).status()));
  EXPECT_TRUE(absl::IsNotFound(Run(Command("/no/such").Output()).status()));
}

TEST_F(CommandTest, AProgramThatCannotBeExecutedIsPermissionDenied) {
  EXPECT_TRUE(absl::IsPermissionDenied(Command("/").Spawn().status()));
}

TEST_F(CommandTest, StringsThatCannotBePassedAreInvalid) {
  const std::string zero("a\0b", 3);
  for (const Command& command :
       {Command(zero), Command("true").Arg(zero),
        Command("true").Env("KEY", zero), Command("true").CurrentDir(zero),
        Command("true").Env("", "x"), Command("true").Env("A=B", "x")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(command.Spawn().status()));
  }
}

TEST_F(CommandTest, AStreamCanBeADescriptor) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reading(ends[0]);
  {
    const Command command =
        Command("echo").Arg("hello").Stdout(Stdio::FromFd(OwnedFd(ends[1])));
    EXPECT_TRUE(Run(command.Run())->IsSuccess());
    EXPECT_TRUE(Run(command.Run())->IsSuccess());
  }
  char buffer[64];
  EXPECT_EQ(read(reading.get(), buffer, sizeof buffer), 12);
  EXPECT_EQ(read(reading.get(), buffer, sizeof buffer), 0);
}

// The second child would fail instead of waiting if its end of the pipe were
// non-blocking.
TEST_F(CommandTest, AStreamCanBeAnotherChildsPipe) {
  Child first =
      Shell("sleep 0.1; echo late").Stdout(Stdio::Piped()).Spawn().value();
  const ProcessOutput output =
      Run(Command("cat")
              .Stdin(Stdio::FromFd((*first.TakeStdout()).IntoBlockingFd()))
              .Output())
          .value();
  EXPECT_EQ(output.out, "late\n");
  EXPECT_TRUE(output.status.IsSuccess()) << output.err;
  EXPECT_TRUE(Run(first.Wait())->IsSuccess());
}

// A program such as `head` fails with EAGAIN if its input is non-blocking.
TEST_F(CommandTest, AStreamIsMadeBlocking) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const OwnedFd writing(ends[1]);
  const Command show = Command("cat")
                           .Arg("/proc/self/fdinfo/0")
                           .Stdin(Stdio::FromFd(OwnedFd(ends[0])));
  const ProcessOutput output = Run(show.Output()).value();
  const std::vector<std::string> words =
      absl::StrSplit(output.out, absl::ByAnyChar("\t\n"));
  const auto flags = std::find(words.begin(), words.end(), "flags:");
  ASSERT_LT(flags + 1, words.end()) << output.out << output.err;
  EXPECT_EQ(std::stol(flags[1], nullptr, 8) & O_NONBLOCK, 0) << output.out;
  // The other end is another open file.
  EXPECT_NE(fcntl(writing.get(), F_GETFL) & O_NONBLOCK, 0);
}

// If the calling process has no standard streams, its own descriptors have
// their numbers.
TEST_F(CommandTest, SourcesCanBeStandardDescriptors) {
  const OwnedFd saved_in(fcntl(0, F_DUPFD_CLOEXEC, 10));
  const OwnedFd saved_out(fcntl(1, F_DUPFD_CLOEXEC, 10));
  close(0);
  close(1);
  const auto output = Run(Shell("echo out; echo err >&2").Output());
  ASSERT_EQ(dup2(saved_in.get(), 0), 0);
  ASSERT_EQ(dup2(saved_out.get(), 1), 1);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
}

TEST_F(CommandTest, TheChildGetsNoOtherDescriptor) {
  auto [a, b] = reactor::MakeSocketPair();
  const ProcessOutput output =
      Run(Shell("ls /proc/self/fd | wc -l").Output()).value();
  // The child has three streams, and the directory that it reads.
  EXPECT_EQ(output.out, "4\n");
}

TEST_F(CommandTest, TheChildHasDefaultSignals) {
  // SIGPIPE notifies the program, although it is blocked here.
  sigset_t sigpipe, before;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  const ExitStatus status = Run(Shell("kill -PIPE $$").Run()).value();
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_EQ(status.signal(), SIGPIPE);
}

// The slack of a runtime's threads would cost power, and children would inherit
// it.
TEST_F(CommandTest, TheChildHasTheDefaultTimerSlack) {
  ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 1UL), 0);
  const ProcessOutput output =
      Run(Command("cat").Arg("/proc/self/timerslack_ns").Output()).value();
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1);
  ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 0UL), 0);
  EXPECT_EQ(output.out, "50000\n");
}

// The program has run, so the start does not fail.
TEST_F(CommandTest, AStatusReapedAtOnceByOtherCodeIsAnErrorOfTheWait) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 20; ++i) {
    absl::StatusOr<Child> child = Command("true").Spawn();
    ASSERT_TRUE(child.ok()) << child.status();
    const absl::Status status = Run(child->Wait()).status();
    EXPECT_NE(status.message().find("SIGCHLD"), std::string::npos) << status;
  }
  signal(SIGCHLD, before);
}

TEST_F(CommandTest, CanHaveItsOwnProcessGroup) {
  absl::StatusOr<Child> child =
      Command("cat").Stdin(Stdio::Piped()).ProcessGroup(0).Spawn();
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(getpgid(child->pid()), child->pid());
  EXPECT_TRUE(Run(child->Wait())->IsSuccess());
}

TEST_F(CommandTest, ADestroyedRunIsReaped) {
  {
    auto run = Shell("exit 0").Run();
    (void)task_.Poll(run);
  }
  while (!HasNoChildren()) reactor_.Park();
}

TEST_F(CommandTest, StartsNothingWithoutAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Command("true").Spawn().status()));
}

TEST_F(CommandTest, StartsNothingAfterAShutdown) {
  reactor_.Shutdown();
  EXPECT_TRUE(absl::IsUnavailable(Command("true").Spawn().status()));
  EXPECT_TRUE(HasNoChildren());
}

// What must be there before the start is what the child needs, and no more.
TEST_F(CommandTest, AChildNeedsOneDescriptorAndOneSource) {
  reactor::Reactor small = reactor::Reactor::Create({.max_sources = 1}).value();
  const int next = dup(STDIN_FILENO);
  ASSERT_EQ(close(next), 0);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit one_more = before;
  one_more.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  absl::StatusOr<Child> child = Command("true").Spawn(small.handle());
  // Another child finds neither.
  const absl::Status second = Command("true").Spawn(small.handle()).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(second)) << second;
  ASSERT_TRUE(child.ok()) << child.status();
  while (!child->TryWait().value().has_value()) std::this_thread::yield();
}

// This is better than starting a program and killing it.
TEST_F(CommandTest, StartsNothingThatCannotBeAwaited) {
  // If `Spawn()` came to the start, the start would fail with the same error.
  for (const int call : {SYS_eventfd2, SYS_epoll_ctl}) {
    if (!reactor::WithFailingCalls({call, SYS_clone, SYS_clone3}, EMFILE, [&] {
          const absl::Status status =
              Command("true").Spawn(reactor_.handle()).status();
          EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
          EXPECT_EQ(status.message().find("clone"), std::string_view::npos)
              << status;
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
  }
}

TEST_F(CommandTest, AWorkingDirectoryThatIsAFileIsFailedPrecondition) {
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Command("true").CurrentDir("/dev/null").Spawn().status()));
}

TEST_F(CommandTest, AFailedSpawnLeavesNothingBehind) {
  ASSERT_TRUE(Run(Command("true").Run()).ok());
  const Command command = Command("cat")
                              .Stdin(Stdio::Piped())
                              .Stdout(Stdio::Piped())
                              .Stderr(Stdio::Null());
  const std::pair<int, int> faults[] = {
      {SYS_pipe2, EMFILE}, {SYS_fcntl, EMFILE},  {SYS_epoll_ctl, ENOSPC},
      {SYS_clone, EMFILE}, {SYS_execve, EMFILE},
  };
  for (const auto& [call, error] : faults) {
    const size_t before = reactor::CountOpenFds();
    if (!reactor::WithFailingCalls({call}, error, [&] {
          EXPECT_TRUE(absl::IsResourceExhausted(
              command.Spawn(reactor_.handle()).status()));
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
    EXPECT_EQ(reactor::CountOpenFds(), before);
    EXPECT_TRUE(HasNoChildren());
  }
}

TEST_F(CommandTest, IsPrinted) {
  Command command("ls");
  EXPECT_EQ(absl::StrCat(command), "\"ls\"");
  command.Arg("-l").Arg("a \"b\"\n");
  EXPECT_EQ(absl::StrCat(command), R"("ls" "-l" "a \"b\"\n")");
}

TEST_F(CommandTest, AChildIsPrinted) {
  Child child = Command("true").Spawn(reactor_.handle()).value();
  EXPECT_EQ(absl::StrCat(child), absl::StrCat("process ", child.pid()));
  EXPECT_TRUE(Run(child.Wait()).ok());
}

TEST_F(CommandTest, LogsTheStartAndTheEndOfAChild) {
  KeptVlog log(1);
  Command command = Shell("exit 3");
  Child child = command.Spawn(reactor_.handle()).value();
  EXPECT_THAT(log.Take(), ::testing::ElementsAre(
                              absl::StrCat("started ", child, ": ", command)));
  EXPECT_TRUE(Run(child.Wait()).ok());
  EXPECT_THAT(log.Take(), ::testing::ElementsAre(
                              absl::StrCat(child, " has ended: exit code 3")));
}

}  // namespace
}  // namespace rouse
