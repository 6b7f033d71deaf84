// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/poller.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {
namespace {

constexpr Token kToken(7);

class PollerTest : public FdTest {
 protected:
  PollerTest() : poller_(*Poller::Create()), events_(16) {}

  absl::Status Register(int fd, Interest interest, Token token = kToken) {
    FdSource source(fd);
    return poller_.registry().Register(source, token, interest);
  }

  // Returns the only pending event.
  Event PollOne() {
    EXPECT_TRUE(poller_.Poll(events_, absl::ZeroDuration()).ok());
    if (events_.size() != 1) {
      ADD_FAILURE() << "there were " << events_.size() << " events";
      return Event(Token(), Ready());
    }
    return events_[0];
  }

  // Returns whether no event is pending.
  bool IsQuiet() {
    EXPECT_TRUE(poller_.Poll(events_, absl::ZeroDuration()).ok());
    return events_.IsEmpty();
  }

  Poller poller_;
  Events events_;
};

TEST_F(PollerTest, ReportsReadableUnderTheToken) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  EXPECT_TRUE(IsQuiet());
  WriteTo(b.get(), "x");
  const Event event = PollOne();
  EXPECT_EQ(event.token(), kToken);
  EXPECT_TRUE(event.IsReadable());
  EXPECT_FALSE(event.IsWritable());
  EXPECT_FALSE(event.IsReadClosed());
  EXPECT_FALSE(event.IsError());
}

TEST_F(PollerTest, ReportsReadinessAtRegistration) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kWritable).ok());
  EXPECT_TRUE(PollOne().IsWritable());
}

TEST_F(PollerTest, IsEdgeTriggered) {
  auto [a, b] = MakeSocketPair();
  WriteTo(b.get(), "x");
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  EXPECT_TRUE(PollOne().IsReadable());
  EXPECT_TRUE(IsQuiet());
  WriteTo(b.get(), "y");
  EXPECT_TRUE(PollOne().IsReadable());
}

TEST_F(PollerTest, HalfClosedPeerIsReadClosed) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(
      Register(a.get(), Interest::kReadable | Interest::kWritable).ok());
  PollOne();
  shutdown(b.get(), SHUT_WR);
  const Event event = PollOne();
  EXPECT_TRUE(event.IsReadable());
  EXPECT_TRUE(event.IsReadClosed());
  EXPECT_FALSE(event.IsWriteClosed());
}

// R16: a hangup closes both directions.
TEST_F(PollerTest, ClosedPeerIsReadAndWriteClosed) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  b.Reset();
  const Event event = PollOne();
  EXPECT_TRUE(event.IsReadClosed());
  EXPECT_TRUE(event.IsWriteClosed());
}

TEST_F(PollerTest, WritingEndOfABrokenPipeIsWriteClosed) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
  OwnedFd reading(fds[0]), writing(fds[1]);
  // Fills the pipe, so that only the error is reported.
  const char page[4096] = {};
  while (write(writing.get(), page, sizeof page) > 0) {
  }
  ASSERT_TRUE(Register(writing.get(), Interest::kWritable).ok());
  reading.Reset();
  const Event event = PollOne();
  EXPECT_TRUE(event.IsError());
  EXPECT_TRUE(event.IsWriteClosed());
  EXPECT_FALSE(event.IsReadClosed());
}

TEST_F(PollerTest, ReregisterChangesTokenAndInterest) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  FdSource source(a.get());
  ASSERT_TRUE(poller_.registry()
                  .Reregister(source, Token(8), Interest::kWritable)
                  .ok());
  const Event event = PollOne();
  EXPECT_EQ(event.token(), Token(8));
  EXPECT_TRUE(event.IsWritable());
}

TEST_F(PollerTest, ADeregisteredSourceReportsNoEvent) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  FdSource source(a.get());
  ASSERT_TRUE(poller_.registry().Deregister(source).ok());
  WriteTo(b.get(), "x");
  EXPECT_TRUE(IsQuiet());
}

TEST_F(PollerTest, RegisteringTwiceIsAlreadyExists) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  const absl::Status status = Register(a.get(), Interest::kReadable);
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
}

TEST_F(PollerTest, DeregisteringTwiceIsNotFound) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kReadable).ok());
  FdSource source(a.get());
  ASSERT_TRUE(poller_.registry().Deregister(source).ok());
  EXPECT_EQ(poller_.registry().Deregister(source).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(PollerTest, ClosedDescriptorIsFailedPrecondition) {
  auto [a, b] = MakeSocketPair();
  const int fd = a.get();
  a.Reset();
  const absl::Status status = Register(fd, Interest::kReadable);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

TEST_F(PollerTest, RegularFileIsPermissionDenied) {
  const OwnedFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.IsValid());
  EXPECT_EQ(Register(file.get(), Interest::kReadable).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(PollerTest, ExcessEventsAreReportedByTheNextPoll) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kWritable, Token(1)).ok());
  ASSERT_TRUE(Register(b.get(), Interest::kWritable, Token(2)).ok());
  Events one(1);
  ASSERT_TRUE(poller_.Poll(one, absl::ZeroDuration()).ok());
  ASSERT_EQ(one.size(), 1u);
  const Token first = one[0].token();
  ASSERT_TRUE(poller_.Poll(one, absl::ZeroDuration()).ok());
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NE(one[0].token(), first);
}

TEST_F(PollerTest, EveryPollReplacesTheEvents) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(Register(a.get(), Interest::kWritable).ok());
  PollOne();
  ASSERT_TRUE(poller_.Poll(events_, absl::ZeroDuration()).ok());
  EXPECT_EQ(events_.size(), 0u);
  EXPECT_EQ(events_.capacity(), 16u);
}

// R17: a wait of less than a millisecond is a wait.
TEST_F(PollerTest, WaitsForLessThanAMillisecond) {
  EXPECT_TRUE(poller_.Poll(events_, absl::Nanoseconds(1)).ok());
  EXPECT_TRUE(poller_.Poll(events_, absl::Microseconds(300)).ok());
  EXPECT_TRUE(events_.IsEmpty());
}

TEST_F(PollerTest, RegistryKeepsTheQueue) {
  auto [a, b] = MakeSocketPair();
  Poller* poller = new Poller(*Poller::Create());
  const Registry registry = poller->registry();
  delete poller;
  FdSource source(a.get());
  EXPECT_TRUE(registry.Register(source, kToken, Interest::kReadable).ok());
}

TEST_F(PollerTest, RegistersWhileAnotherThreadPolls) {
  auto [a, b] = MakeSocketPair();
  // g++ 12 cannot capture a structured binding everywhere.
  const int fd = a.get();
  std::thread registering(
      [this, fd] { EXPECT_TRUE(Register(fd, Interest::kWritable).ok()); });
  do {
    ASSERT_TRUE(poller_.Poll(events_, absl::InfiniteDuration()).ok());
  } while (events_.IsEmpty());
  EXPECT_TRUE(events_[0].IsWritable());
  registering.join();
}

TEST_F(PollerTest, ASignalIsNotAnError) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};  // without SA_RESTART
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);

  const pthread_t polling = pthread_self();
  Atomic<bool> done{false};
  std::thread killing([&] {
    // Sends the signal repeatedly, because one may arrive before the poll has
    // begun.
    while (!done.load(std::memory_order_relaxed)) {
      pthread_kill(polling, SIGUSR1);
      std::this_thread::yield();
    }
  });
  const absl::Status forever = poller_.Poll(events_, absl::InfiniteDuration());
  const absl::Status timed = poller_.Poll(events_, absl::Hours(24));
  done.store(true, std::memory_order_relaxed);
  killing.join();
  EXPECT_TRUE(forever.ok()) << forever;
  EXPECT_TRUE(timed.ok()) << timed;
  EXPECT_TRUE(events_.IsEmpty());
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(PollerTest, DescriptorsAreClosedOnExec) {
  // The highest open descriptor is the newest one.
  const OwnedFd before(open("/dev/null", O_RDONLY | O_CLOEXEC));
  absl::StatusOr<Poller> poller = Poller::Create();
  ASSERT_TRUE(poller.ok());
  const int fd = before.get() + 1;
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(Events, ACapacityOfZeroPanics) {
  EXPECT_PANIC(Events(0), "Events: the capacity is 0");
}

TEST(Printing, ATokenIsItsNumber) {
  EXPECT_EQ(absl::StrCat(Token(), " ", Token(10)), "0 10");
  EXPECT_EQ(absl::StrCat(Token(~uint64_t{0})), "18446744073709551615");
}

TEST(Printing, AnEventIsATokenAndItsStates) {
  EXPECT_EQ(absl::StrCat(Event(Token(7), Ready::kReadable | Ready::kError)),
            "token 7: readable|error");
}

}  // namespace
}  // namespace rouse::reactor
