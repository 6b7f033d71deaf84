// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/child.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/command.h"
#include "rouse/process/exit_status.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/process_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

class ChildTest : public ProcessTest {
 protected:
  // Starts a program that runs until its input ends, and writes its input to
  // its output.
  static Child SpawnCat(bool kill_on_drop = false) {
    return Command("cat")
        .Stdin(Stdio::Piped())
        .Stdout(Stdio::Piped())
        .KillOnDrop(kill_on_drop)
        .Spawn()
        .value();
  }

  void AwaitNoChildren() {
    while (!HasNoChildren()) reactor_.Park();
  }

  // Blocks until a child has ended, and leaves the child to be waited for.
  static void AwaitZombie() {
    siginfo_t info;
    // NOLINTNEXTLINE(misc-include-cleaner): <sys/wait.h> has the flags
    ASSERT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  }
};

TEST_F(ChildTest, TransfersBytesBothWays) {
  Child child = SpawnCat();
  std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  ASSERT_TRUE(input.has_value() && output.has_value());
  EXPECT_FALSE(child.TakeStdin().has_value());
  EXPECT_FALSE(child.TakeStderr().has_value());
  ASSERT_TRUE(Run(input->WriteAll("ping")).ok());
  char buffer[16];
  ASSERT_EQ(Run(output->Read(absl::MakeSpan(buffer))).value(), 4u);
  EXPECT_EQ(std::string_view(buffer, 4), "ping");
  input.reset();
  EXPECT_EQ(Run(output->Read(absl::MakeSpan(buffer))).value(), 0u);
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
}

TEST_F(ChildTest, WritesMoreThanThePipeHolds) {
  Child child = SpawnCat();
  std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  const std::string data(1000000, 'x');
  size_t received = 0;
  {
    auto write = input->WriteAll(data);
    char buffer[4096];
    while (task_.Poll(write).IsPending()) {
      auto read = output->Read(absl::MakeSpan(buffer));
      const auto size = runner_.Poll(read);
      if (size.IsPending()) {
        reactor_.Park();
      } else {
        received += size->value();
      }
    }
  }
  input.reset();
  EXPECT_EQ(received + ReadAll(*output).size(), data.size());
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
}

TEST_F(ChildTest, WaitClosesTheInput) {
  Child child = SpawnCat();
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
  EXPECT_FALSE(child.TakeStdin().has_value());
}

TEST_F(ChildTest, WaitReturnsTheSameStatusAgain) {
  Child child = Shell("exit 7").Spawn().value();
  EXPECT_EQ(Run(child.Wait())->code(), 7);
  EXPECT_EQ(Run(child.Wait())->code(), 7);
  EXPECT_EQ(child.TryWait().value()->code(), 7);
}

TEST_F(ChildTest, TryWaitDoesNotWait) {
  Child child = SpawnCat();
  EXPECT_EQ(child.TryWait().value(), std::nullopt);
  child.TakeStdin().reset();
  auto wait = child.Wait();
  while (child.TryWait().value() == std::nullopt) reactor_.Park();
  EXPECT_TRUE(child.TryWait().value()->IsSuccess());
  EXPECT_TRUE(Run(wait)->IsSuccess());
}

TEST_F(ChildTest, ADestroyedWaitChangesNothing) {
  Child child = SpawnCat();
  const std::optional<ChildStdin> input = child.TakeStdin();
  {
    auto wait = child.Wait();
    ASSERT_TRUE(task_.Poll(wait).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  EXPECT_EQ(child.TryWait().value(), std::nullopt);
  EXPECT_TRUE(child.Kill().ok());
  EXPECT_EQ(Run(child.Wait())->signal(), SIGKILL);
}

TEST_F(ChildTest, PollWaitClosesNothing) {
  Child child = SpawnCat();
  Context cx(task_.waker());
  EXPECT_TRUE(child.PollWait(cx).IsPending());
  EXPECT_TRUE(child.TakeStdin().has_value());
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
}

TEST_F(ChildTest, SignalsReachTheChild) {
  Child child = SpawnCat();
  EXPECT_TRUE(child.SendSignal(SIGTERM).ok());
  EXPECT_EQ(Run(child.Wait())->signal(), SIGTERM);
  EXPECT_TRUE(absl::IsFailedPrecondition(child.SendSignal(SIGTERM)));
  EXPECT_TRUE(absl::IsFailedPrecondition(child.Kill()));
}

TEST_F(ChildTest, ASignalThatDoesNotExistIsInvalid) {
  Child child = SpawnCat();
  EXPECT_TRUE(absl::IsInvalidArgument(child.SendSignal(-1)));
  EXPECT_TRUE(absl::IsInvalidArgument(child.SendSignal(NSIG)));
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
}

TEST_F(ChildTest, AFailedSignalReportsTheReason) {
  Child child = SpawnCat();
  absl::Status another_users, no_process;
  const bool done =
      reactor::WithFailingCalls({SYS_pidfd_send_signal}, EPERM,
                                [&] { another_users = child.Kill(); }) &&
      reactor::WithFailingCalls({SYS_pidfd_send_signal}, ESRCH,
                                [&] { no_process = child.Kill(); });
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
  if (!done) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_TRUE(absl::IsPermissionDenied(another_users)) << another_users;
  EXPECT_TRUE(absl::IsNotFound(no_process)) << no_process;
}

TEST_F(ChildTest, ASignalToAZombieHasNoEffect) {
  Child child = Shell("exit 3").Spawn().value();
  AwaitZombie();
  EXPECT_TRUE(child.SendSignal(SIGTERM).ok());
  EXPECT_EQ(Run(child.Wait())->code(), 3);
}

static_assert(AsyncWrite<ChildStdin>);
static_assert(AsyncRead<ChildStdout>);

TEST_F(ChildTest, PartsAreWrittenOneAfterTheOther) {
  Child child = SpawnCat();
  std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  const std::string_view all[] = {"", "one ", "two"};
  Context cx(task_.waker());
  EXPECT_EQ(input->PollWriteVectored(cx, {})->value(), 0u);
  Turn();
  EXPECT_EQ(input->PollWriteVectored(cx, all)->value(), 4u);
  EXPECT_EQ(input->PollWriteVectored(cx, absl::MakeConstSpan(all).subspan(2))
                ->value(),
            3u);
  EXPECT_TRUE(input->PollFlush(cx)->ok());
  EXPECT_TRUE(input->PollShutdown(cx)->ok());
  input.reset();
  EXPECT_EQ(ReadAll(*output), "one two");
  EXPECT_TRUE(Run(child.Wait())->IsSuccess());
}

// The write does not raise SIGPIPE either, which would end this test.
TEST_F(ChildTest, WritingToAnExitedChildIsAnError) {
  Child child = SpawnCat();
  const std::optional<ChildStdin> input = child.TakeStdin();
  ASSERT_TRUE(child.Kill().ok());
  ASSERT_TRUE(Run(child.Wait()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(input->Write("x")).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(input->WriteAll("x"))));
}

// A SIGPIPE that was pending before is not taken away.
TEST_F(ChildTest, AnotherSIGPIPEStaysPending) {
  Child child = SpawnCat();
  const std::optional<ChildStdin> input = child.TakeStdin();
  ASSERT_TRUE(child.Kill().ok());
  ASSERT_TRUE(Run(child.Wait()).ok());
  sigset_t sigpipe, before, pending;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  ASSERT_EQ(raise(SIGPIPE), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(input->Write("x")).status()));
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  int number;
  ASSERT_EQ(sigwait(&sigpipe, &number), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST_F(ChildTest, AnEmptyReadIsNotTheEnd) {
  Child child = SpawnCat();
  const std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  EXPECT_EQ(Run(input->Write("")).value(), 0u);
  EXPECT_EQ(Run(output->Read({})).value(), 0u);
  EXPECT_TRUE(child.Kill().ok());
  EXPECT_TRUE(Run(child.Wait()).ok());
}

TEST_F(ChildTest, WaitWithOutputReturnsTheUnreadOutput) {
  Child child = Shell("echo out; echo err >&2")
                    .Stdout(Stdio::Piped())
                    .Stderr(Stdio::Piped())
                    .Spawn()
                    .value();
  const std::optional<ChildStdout> out = child.TakeStdout();
  const ProcessOutput output = Run(std::move(child).WaitWithOutput()).value();
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err, "err\n");
  EXPECT_EQ(ReadAll(*out), "out\n");
}

// The child is destroyed while the process runs, and the process ends later.
TEST_F(ChildTest, ADestroyedChildContinuesAndIsReaped) {
  std::optional<ChildStdin> input;
  std::optional<ChildStdout> output;
  {
    Child child = SpawnCat();
    input = child.TakeStdin();
    output = child.TakeStdout();
  }
  ASSERT_TRUE(Run(input->WriteAll("still here")).ok());
  input.reset();
  EXPECT_EQ(ReadAll(*output), "still here");
  AwaitNoChildren();
}

TEST_F(ChildTest, ADestroyedChildIsAZombieUntilTheReactorTurns) {
  std::optional<ChildStdin> input;
  {
    Child child = SpawnCat();
    input = child.TakeStdin();
  }
  input.reset();
  AwaitZombie();
  EXPECT_FALSE(HasNoChildren());
  AwaitNoChildren();
}

TEST_F(ChildTest, AnExitedChildIsReapedAtOnce) {
  {
    Child child = Command("true").Stdout(Stdio::Piped()).Spawn().value();
    const std::optional<ChildStdout> output = child.TakeStdout();
    EXPECT_EQ(ReadAll(*output), "");
  }
  AwaitNoChildren();
}

TEST_F(ChildTest, KillOnDropKillsTheChild) {
  std::optional<ChildStdin> input;
  std::optional<ChildStdout> output;
  {
    Child child = SpawnCat(/*kill_on_drop=*/true);
    input = child.TakeStdin();
    output = child.TakeStdout();
  }
  EXPECT_EQ(ReadAll(*output), "");
  AwaitNoChildren();
}

TEST_F(ChildTest, AssignmentAbandonsTheOldChild) {
  Child child = SpawnCat(/*kill_on_drop=*/true);
  child = Shell("exit 5").Spawn().value();
  EXPECT_EQ(Run(child.Wait())->code(), 5);
  AwaitNoChildren();
}

TEST_F(ChildTest, AMovedChildIsTheSameProcess) {
  Child child = SpawnCat(/*kill_on_drop=*/true);
  const pid_t pid = child.pid();
  Child moved = std::move(child);
  EXPECT_EQ(moved.pid(), pid);
  EXPECT_TRUE(moved.TakeStdout().has_value());
  EXPECT_TRUE(Run(moved.Wait())->IsSuccess());
}

TEST_F(ChildTest, AMovedFromChildReapsNoOtherProcess) {
  Child child = SpawnCat(/*kill_on_drop=*/true);
  Child other = Command("true").Spawn().value();
  AwaitZombie();
  Child moved = std::move(child);
  // NOLINTNEXTLINE(bugprone-use-after-move): it has none
  EXPECT_TRUE(absl::IsFailedPrecondition(child.TryWait().status()));
  EXPECT_TRUE(Run(other.Wait())->IsSuccess());
  EXPECT_TRUE(Run(moved.Wait())->IsSuccess());
}

// A process that outlives its reactor is reaped by the next call that starts or
// destroys a child.
TEST_F(ChildTest, AnOrphanOfTheReactorIsReapedByTheNextChild) {
  const size_t descriptors = reactor::CountOpenFds();
  std::optional<ChildStdin> input;
  {
    reactor::Reactor shut_down = reactor::Reactor::Create().value();
    Child child =
        Command("cat").Stdin(Stdio::Piped()).Spawn(shut_down.handle()).value();
    input = child.TakeStdin();
  }
  EXPECT_FALSE(HasNoChildren());
  input.reset();
  // One descriptor is for the child, and none belongs to the reactor.
  EXPECT_EQ(reactor::CountOpenFds(), descriptors + 1);
  AwaitZombie();
  EXPECT_TRUE(Run(Command("true").Run())->IsSuccess());
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(ChildTest, AStatusReapedByOtherCodeIsAnError) {
  Child child = Command("true").Spawn().value();
  ASSERT_EQ(waitpid(child.pid(), nullptr, 0), child.pid());
  const absl::Status status = Run(child.Wait()).status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("SIGCHLD"), std::string::npos) << status;
  EXPECT_FALSE(child.TryWait().ok());
}

// By then the process id may belong to an unrelated process.
TEST_F(ChildTest, AChildReapedByOtherCodeIsNotSignalled) {
  Child child = Command("true").Spawn().value();
  ASSERT_EQ(waitpid(child.pid(), nullptr, 0), child.pid());
  EXPECT_TRUE(absl::IsNotFound(child.SendSignal(SIGTERM)));
  EXPECT_TRUE(absl::IsNotFound(child.Kill()));
}

// No operation uses the process id: all work as usual while kill() and
// waitpid() fail.
TEST_F(ChildTest, SignalsAndWaitsUseTheProcessDescriptor) {
  std::optional<Child> dropped = SpawnCat(/*kill_on_drop=*/true);
  const std::optional<ChildStdin> input = dropped->TakeStdin();
  const std::optional<ChildStdout> output = dropped->TakeStdout();
  Child killed = SpawnCat();
  Child ended = Shell("exit 3").Spawn().value();
  // Blocks until the child can be waited for, and leaves it to be waited for.
  siginfo_t info;
  // NOLINTNEXTLINE(misc-include-cleaner): <sys/wait.h> has the flags
  ASSERT_EQ(
      waitid(P_PID, static_cast<id_t>(ended.pid()), &info, WEXITED | WNOWAIT),
      0);
  if (!reactor::WithFailingCalls({SYS_kill, SYS_wait4}, EPERM, [&] {
        EXPECT_EQ(ended.TryWait().value()->code(), 3);
        EXPECT_TRUE(killed.Kill().ok());
        dropped.reset();
      })) {
    dropped.reset();
    EXPECT_TRUE(Run(ended.Wait()).ok());
    EXPECT_TRUE(Run(killed.Wait()).ok());
    AwaitNoChildren();
    GTEST_SKIP() << "no filters of system calls here";
  }
  EXPECT_EQ(Run(killed.Wait())->signal(), SIGKILL);
  EXPECT_EQ(ReadAll(*output), "");
  AwaitNoChildren();
}

TEST_F(ChildTest, WaitsByProcessIdOnOldKernels) {
  Child child = Shell("exit 3").Spawn().value();
  std::optional<ExitStatus> status;
  AwaitZombie();
  if (!reactor::WithFailingCalls({SYS_waitid}, EINVAL,
                                 [&] { status = child.TryWait().value(); })) {
    EXPECT_TRUE(Run(child.Wait()).ok());
    GTEST_SKIP() << "no filters of system calls here";
  }
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code(), 3);
}

TEST_F(ChildTest, AShutdownOfTheReactorIsUnavailable) {
  Child child = SpawnCat(/*kill_on_drop=*/true);
  const std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  auto wait = child.Wait();
  ASSERT_TRUE(task_.Poll(wait).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(absl::IsUnavailable(task_.Poll(wait)->status()));
  auto write = input->Write("x");
  EXPECT_TRUE(absl::IsUnavailable(task_.Poll(write)->status()));
  // Operations without a reactor still work.
  EXPECT_TRUE(child.Kill().ok());
  AwaitZombie();
  EXPECT_EQ(child.TryWait().value()->signal(), SIGKILL);
}

TEST_F(ChildTest, ManyChildrenRunAtOnce) {
  std::vector<Child> children;
  for (int i = 0; i < 20; ++i) {
    children.push_back(Shell("exit " + std::to_string(i)).Spawn().value());
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Run(children[static_cast<size_t>(i)].Wait())->code(), i);
  }
}

TEST_F(ChildTest, PollingACompleteFuturePanics) {
  Child child = SpawnCat();
  const std::optional<ChildStdin> input = child.TakeStdin();
  const std::optional<ChildStdout> output = child.TakeStdout();
  ASSERT_TRUE(child.Kill().ok());
  auto wait = child.Wait();
  ASSERT_TRUE(Run(wait).ok());
  EXPECT_PANIC((void)task_.Poll(wait), "Child::Wait() was polled after");
  auto read = output->Read({});
  ASSERT_TRUE(Run(read).ok());
  EXPECT_PANIC((void)task_.Poll(read), "Read was polled after");
  auto write = input->Write("");
  ASSERT_TRUE(Run(write).ok());
  EXPECT_PANIC((void)task_.Poll(write), "Write was polled after");
  auto write_all = input->WriteAll("");
  ASSERT_TRUE(Run(write_all).ok());
  EXPECT_PANIC((void)task_.Poll(write_all), "WriteAll was polled after");
}

}  // namespace
}  // namespace rouse
