// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/kept_vlog.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {
namespace {

class RegistrationTest : public ReactorTest {
 protected:
  RegistrationTest() {
    std::tie(a_, b_) = MakeSocketPair();
    registration_.emplace(Register(a_.get()).value());
  }

  absl::StatusOr<Registration> Register(
      int fd, Interest interest = Interest::kReadable | Interest::kWritable) {
    return Registration::Create(fd, interest, reactor_.handle());
  }

  PollResult<absl::StatusOr<ReadyEvent>> PollReady(Direction direction,
                                                   CountingWaker& task,
                                                   Waiter* waiter = nullptr) {
    Context cx(task.waker());
    return registration_->PollReady(direction, cx, waiter);
  }

  bool IsReady(Direction direction) {
    Waiter waiter;
    return PollReady(direction, runner_, &waiter).IsReady();
  }

  void EndReactor() { const Reactor end = std::move(reactor_); }

  // Counts the system calls.
  PollResult<absl::StatusOr<size_t>> PollReceive(Context& cx, size_t size,
                                                 Waiter* waiter = nullptr) {
    return registration_->PollIo(
        Direction::kRead, cx, waiter, size,
        [&] {
          ++calls_;
          return recv(a_.get(), buffer_, size, 0);
        },
        [](int error) { return absl::ErrnoToStatus(error, "recv"); });
  }

  OwnedFd a_, b_;
  std::optional<Registration> registration_;
  char buffer_[64];
  int calls_ = 0;
};

TEST_F(RegistrationTest, ReportsOnlyTheKindsOfInterest) {
  ASSERT_TRUE(registration_->Reregister(Interest::kReadable).ok());
  ASSERT_TRUE(PollReady(Direction::kWrite, task_).IsPending());
  EXPECT_EQ(Turn(), 0u);
  EXPECT_EQ(task_.wakes(), 0);
  // The wait goes on, and a state that holds already ends it.
  ASSERT_TRUE(
      registration_->Reregister(Interest::kReadable | Interest::kWritable)
          .ok());
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(IsReady(Direction::kWrite));
  EXPECT_FALSE(IsReady(Direction::kRead));
}

TEST_F(RegistrationTest, AChangeOfInterestReportsAgain) {
  WriteTo(b_.get(), "x");
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(Turn(), 0u);
  ASSERT_TRUE(registration_->Reregister(Interest::kReadable).ok());
  EXPECT_EQ(Turn(), 1u);
}

TEST_F(RegistrationTest, AReadyDirectionStaysReadyWithoutInterest) {
  Turn();
  ASSERT_TRUE(registration_->Reregister(Interest::kReadable).ok());
  Turn();
  EXPECT_TRUE(IsReady(Direction::kWrite));
}

TEST_F(RegistrationTest, TheEndIsReportedWithoutInterest) {
  ASSERT_TRUE(registration_->Reregister(Interest::kReadable).ok());
  ASSERT_TRUE(PollReady(Direction::kWrite, task_).IsPending());
  b_.Reset();
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(RegistrationTest, AChangeOfInterestReturnsErrors) {
  const int fd = a_.Release();
  close(fd);
  EXPECT_EQ(registration_->Reregister(Interest::kReadable).code(),
            absl::StatusCode::kFailedPrecondition);
  reactor_.Shutdown();
  EXPECT_EQ(registration_->Reregister(Interest::kReadable).code(),
            absl::StatusCode::kUnavailable);
  registration_->Deregister().IgnoreError();
  const absl::Status ended = registration_->Reregister(Interest::kReadable);
  EXPECT_EQ(ended.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ended.message(),
            "the socket or descriptor was closed, deregistered or moved from; "
            "if moved from, use the object that it was moved to");
}

TEST_F(RegistrationTest, IsNotReadyBeforeAnEvent) {
  EXPECT_FALSE(IsReady(Direction::kRead));
  EXPECT_FALSE(IsReady(Direction::kWrite));
  Turn();
  EXPECT_FALSE(IsReady(Direction::kRead));
  EXPECT_TRUE(IsReady(Direction::kWrite));
}

TEST_F(RegistrationTest, AnEventWakesAWaiter) {
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  const auto event = PollReady(Direction::kRead, task_);
  ASSERT_TRUE(event.IsReady());
  EXPECT_EQ((*event)->direction(), Direction::kRead);
  EXPECT_EQ((*event)->ready(), Ready::kReadable);
}

TEST_F(RegistrationTest, StaysReadyUntilItWouldBlock) {
  Turn();
  ASSERT_TRUE(IsReady(Direction::kWrite));
  const auto event = PollReady(Direction::kWrite, task_);
  registration_->WouldBlock(**event);
  EXPECT_FALSE(IsReady(Direction::kWrite));
}

TEST_F(RegistrationTest, AnEventBetweenTheAttemptAndItsResultIsKept) {
  WriteTo(b_.get(), "x");
  Turn();
  const auto event = PollReady(Direction::kRead, task_);
  ASSERT_TRUE(event.IsReady());
  WriteTo(b_.get(), "y");
  Turn();
  registration_->WouldBlock(**event);
  EXPECT_TRUE(IsReady(Direction::kRead));
}

TEST_F(RegistrationTest, ClosedReadingStaysReadyAfterAShortRead) {
  WriteTo(b_.get(), "x");
  shutdown(b_.get(), SHUT_WR);
  Turn();
  const auto event = PollReady(Direction::kRead, task_);
  EXPECT_TRUE((*event)->ready().IsReadClosed());
  registration_->ClearReady(**event);
  EXPECT_TRUE(IsReady(Direction::kRead));
}

// R8: wrong or temporary closed states do not make a reader spin: the result of
// the system call counts.
TEST_F(RegistrationTest, ClosedReadingIsNotReadyAfterItWouldBlock) {
  const OwnedFd fresh(
      socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  registration_ = Register(fresh.get()).value();
  Turn();
  // The socket is neither connected nor connecting: the kernel reports a
  // hangup.
  const auto event = PollReady(Direction::kRead, task_);
  ASSERT_TRUE(event.IsReady());
  EXPECT_TRUE((*event)->ready().IsReadClosed());
  registration_->WouldBlock(**event);
  EXPECT_FALSE(IsReady(Direction::kRead));
}

TEST_F(RegistrationTest, AReaderAndAWriterWaitIndependently) {
  Turn();
  const auto event = PollReady(Direction::kWrite, task_);
  registration_->WouldBlock(**event);
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  ASSERT_TRUE(PollReady(Direction::kWrite, other_).IsPending());
  b_.Reset();  // ends both directions
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(RegistrationTest, SeveralTasksCanWaitForOneDirection) {
  Waiter first, second;
  ASSERT_TRUE(PollReady(Direction::kRead, task_, &first).IsPending());
  ASSERT_TRUE(PollReady(Direction::kRead, other_, &second).IsPending());
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(RegistrationTest, PollIoMakesNoCallBeforeItIsReady) {
  Context cx(task_.waker());
  EXPECT_TRUE(PollReceive(cx, 8).IsPending());
  EXPECT_EQ(calls_, 0);
}

TEST_F(RegistrationTest, PollIoReturnsTheResultOfTheCall) {
  WriteTo(b_.get(), "12345");
  Turn();
  Context cx(task_.waker());
  const auto size = PollReceive(cx, 8);
  ASSERT_TRUE(size.IsReady());
  EXPECT_EQ(size->value(), 5u);
  EXPECT_EQ(std::string_view(buffer_, 5), "12345");
}

TEST_F(RegistrationTest, AShortReadSavesTheCallThatWouldBlock) {
  WriteTo(b_.get(), "12345");
  Turn();
  Context cx(task_.waker());
  ASSERT_TRUE(PollReceive(cx, 8).IsReady());
  EXPECT_TRUE(PollReceive(cx, 8).IsPending());
  EXPECT_EQ(calls_, 1);
}

TEST_F(RegistrationTest, AFullReadMakesTheCallThatWouldBlock) {
  WriteTo(b_.get(), "12345");
  Turn();
  Context cx(task_.waker());
  ASSERT_TRUE(PollReceive(cx, 5).IsReady());
  EXPECT_TRUE(PollReceive(cx, 5).IsPending());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RegistrationTest, PollIoReadsToTheEnd) {
  WriteTo(b_.get(), "12345");
  b_.Reset();
  Turn();
  Context cx(task_.waker());
  EXPECT_EQ(PollReceive(cx, 8)->value(), 5u);
  EXPECT_EQ(PollReceive(cx, 8)->value(), 0u);
  EXPECT_EQ(PollReceive(cx, 8)->value(), 0u);
}

TEST_F(RegistrationTest, PollIoRepeatsAnInterruptedCall) {
  Turn();
  Context cx(task_.waker());
  int calls = 0;
  const auto result = registration_->PollIo(
      Direction::kWrite, cx, nullptr, 0,
      [&]() -> ssize_t {
        if (++calls < 3) {
          errno = EINTR;
          return -1;
        }
        return 9;
      },
      [](int error) { return absl::ErrnoToStatus(error, ""); });
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->value(), 9u);
}

TEST_F(RegistrationTest, PollIoPassesErrorsOnAndStaysReady) {
  Turn();
  Context cx(task_.waker());
  const auto result = registration_->PollIo(
      Direction::kWrite, cx, nullptr, 0,
      []() -> ssize_t {
        errno = EPIPE;
        return -1;
      },
      [](int error) { return absl::ErrnoToStatus(error, "write to it"); });
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(IsReady(Direction::kWrite));
}

// R13: a source that is always ready lets other tasks run.
TEST_F(RegistrationTest, PollIoTakesBudget) {
  Turn();
  Context cx(task_.waker());
  uint32_t calls = 0;
  for (;;) {
    const auto result = registration_->PollIo(
        Direction::kWrite, cx, nullptr, 0, [&]() -> ssize_t { return 1; },
        [](int error) { return absl::ErrnoToStatus(error, ""); });
    if (result.IsPending()) break;
    ++calls;
  }
  EXPECT_EQ(calls, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

// An operation that fails at once does not keep the thread either, however
// often it is repeated.
TEST_F(RegistrationTest, ErrorsAfterAShutdownTakeBudget) {
  reactor_.Shutdown();
  Context cx(task_.waker());
  uint32_t errors = 0;
  while (PollReceive(cx, 8).IsReady()) ++errors;
  EXPECT_EQ(errors, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(RegistrationTest, WaitingTakesNoBudget) {
  Context cx(task_.waker());
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) {
    ASSERT_TRUE(PollReceive(cx, 8).IsPending());
  }
  EXPECT_TRUE(cx.HasBudget());
}

// R7: waiters are released when the registration ends.
TEST_F(RegistrationTest, DeregisteringWakesAndDropsTheWaiters) {
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  EXPECT_EQ(task_.live(), 1);
  EXPECT_TRUE(registration_->Deregister().ok());
  EXPECT_EQ(task_.live(), 0);
  EXPECT_EQ(task_.wakes(), 1);
  const auto event = PollReady(Direction::kRead, task_);
  ASSERT_TRUE(event.IsReady());
  EXPECT_EQ(event->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(registration_->Deregister().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(registration_->handle().IsBound());
}

TEST_F(RegistrationTest, ADeregisteredSourceCanBeRegisteredAgain) {
  ASSERT_TRUE(registration_->Deregister().ok());
  registration_ = Register(a_.get()).value();
  Turn();
  EXPECT_TRUE(IsReady(Direction::kWrite));
}

// Detecting a fork takes no system call.
TEST_F(RegistrationTest, DeregisteringIsOneSystemCall) {
  int calls = 0;
  const auto count = [&calls] {
    ++calls;
    return false;
  };
  if (!WithCallsThatMayFail({SYS_epoll_ctl, SYS_getpid}, EPERM, count, [this] {
        EXPECT_TRUE(registration_->Deregister().ok());
      })) {
    GTEST_SKIP() << "no filters of system calls here";
  }
  EXPECT_EQ(calls, 1);
}

// The child's queue belongs to the parent.
TEST_F(RegistrationTest, AForkedChildDoesNotDeregister) {
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    registration_.reset();
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
}

// R2, D30: the queue still has events of a descriptor that was closed in this
// process, but not everywhere, before it was deregistered. The events do not
// reach the next user of the slot.
TEST_F(RegistrationTest, EventsOfAClosedSourceReachNoTask) {
  const OwnedFd duplicate(fcntl(a_.get(), F_DUPFD_CLOEXEC, 0));
  a_.Reset();
  EXPECT_FALSE(registration_->Deregister().ok());  // EBADF
  auto [c, d] = MakeSocketPair();
  // Reuses the slot that was freed last. Registered only for reading: a first
  // event of its own would come together with the zombie's.
  registration_ = Register(c.get(), Interest::kReadable).value();
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  WriteTo(b_.get(), "x");
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_FALSE(IsReady(Direction::kRead));
}

// Covers trap R12 of reactor/traps_test.cc.
TEST_F(RegistrationTest, AFailedRegistrationLeavesNothingBehind) {
  registration_.reset();
  ASSERT_TRUE(reactor_.IsIdle());
  const OwnedFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(Register(file.get()).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Register(-1).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(RegistrationTest, RegisteringTwiceIsAlreadyExists) {
  EXPECT_EQ(Register(a_.get()).status().code(),
            absl::StatusCode::kAlreadyExists);
  Turn();
  EXPECT_TRUE(IsReady(Direction::kWrite));  // the first one still works
}

TEST_F(RegistrationTest, TooManySourcesAreResourceExhausted) {
  Options options;
  options.max_sources = 1;
  Reactor small = Reactor::Create(options).value();
  auto [c, d] = MakeSocketPair();
  auto first =
      Registration::Create(c.get(), Interest::kReadable, small.handle());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Registration::Create(d.get(), Interest::kReadable, small.handle())
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(first->Deregister().ok());
  EXPECT_TRUE(
      Registration::Create(d.get(), Interest::kReadable, small.handle()).ok());
}

TEST_F(RegistrationTest, AnUnboundHandleIsFailedPrecondition) {
  const ScopedDefault none((Handle()));
  EXPECT_EQ(Registration::Create(b_.get(), Interest::kReadable).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(RegistrationTest, UsesTheCurrentReactor) {
  const ScopedDefault current(reactor_.handle());
  const auto registration = Registration::Create(b_.get(), Interest::kReadable);
  ASSERT_TRUE(registration.ok());
  EXPECT_EQ(registration->handle(), reactor_.handle());
}

// Covers trap R5 of reactor/traps_test.cc and D32.
TEST_F(RegistrationTest, AShutdownWakesAllWaitersWithUnavailable) {
  Waiter waiter;
  ASSERT_TRUE(PollReady(Direction::kRead, task_, &waiter).IsPending());
  ASSERT_TRUE(PollReady(Direction::kWrite, other_).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  const auto event = PollReady(Direction::kRead, task_, &waiter);
  ASSERT_TRUE(event.IsReady());
  EXPECT_EQ(event->status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RegistrationTest, AReadySourceIsUnavailableAfterAShutdown) {
  WriteTo(b_.get(), "x");
  Turn();
  EndReactor();
  Context cx(task_.waker());
  const auto result = PollReceive(cx, 8);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(calls_, 0);
}

TEST_F(RegistrationTest, RegisteringAfterAShutdownIsUnavailable) {
  const Handle handle = reactor_.handle();
  EndReactor();
  EXPECT_EQ(Registration::Create(b_.get(), Interest::kReadable, handle)
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(RegistrationTest, OutlivesTheReactor) {
  ASSERT_TRUE(PollReady(Direction::kRead, task_).IsPending());
  EndReactor();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(registration_->Deregister().ok());
}

TEST_F(RegistrationTest, AMovedRegistrationStillWorks) {
  Registration moved = *std::move(registration_);
  registration_ = std::move(moved);
  Turn();
  EXPECT_TRUE(IsReady(Direction::kWrite));
}

TEST_F(RegistrationTest, IsSmall) {
  EXPECT_LE(sizeof(Registration), 24u);
  EXPECT_LE(sizeof(Waiter), 40u);
  EXPECT_LE(sizeof(internal::Slot), 64u);
}

TEST_F(RegistrationTest, LogsRegistrations) {
  KeptVlog log(2);
  const std::string reactor = absl::StrCat(reactor_.handle());
  const OwnedFd fd(fcntl(b_.get(), F_DUPFD_CLOEXEC, 0));
  auto registration = Register(fd.get(), Interest::kReadable).value();
  EXPECT_THAT(
      log.Take(),
      ::testing::ElementsAre(::testing::AllOf(
          ::testing::StartsWith(reactor + ": registered source "),
          ::testing::EndsWith(absl::StrCat(" for descriptor ", fd.get())))));
  registration.Deregister().IgnoreError();
  reactor_.Shutdown();
  EXPECT_THAT(log.Take(),
              ::testing::ElementsAre(
                  ::testing::StartsWith(reactor + ": deregisters source "),
                  reactor + " (shut down)"));
}

}  // namespace
}  // namespace rouse::reactor
