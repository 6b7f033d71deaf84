// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/user_source.h"

#include <sys/syscall.h>

#include <cerrno>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"

namespace rouse::reactor {
namespace {

constexpr Token kToken(7);
constexpr Token kOther(8);
constexpr Interest kBoth = Interest::kReadable | Interest::kWritable;
constexpr Ready kReadyForBoth = Ready::kReadable | Ready::kWritable;

// A source at a `Poller`, and at the reactor of the base class.
class UserSourceTest : public ReactorTest {
 protected:
  // Returns the readiness that is reported now under `token`. Several events
  // of a poll are added up; an event of another token is a failure.
  Ready Poll(Token token = kToken) {
    Events events(8);
    EXPECT_TRUE(poller_.Poll(events, absl::ZeroDuration()).ok());
    Ready ready;
    for (const Event& event : events) {
      EXPECT_EQ(event.token(), token);
      ready |= event.ready();
    }
    return ready;
  }

  absl::Status Register(Interest interest) {
    return poller_.registry().Register(source_, kToken, interest);
  }

  Poller poller_ = Poller::Create().value();
  std::pair<UserSource, SetReadiness> made_ = UserSource::Create().value();
  UserSource& source_ = made_.first;
  const SetReadiness& readiness_ = made_.second;
};

TEST_F(UserSourceTest, IsNotReadyAtFirst) {
  ASSERT_TRUE(Register(kBoth).ok());
  EXPECT_EQ(Poll(), Ready());
  EXPECT_EQ(readiness_.Get(), Ready());
}

TEST_F(UserSourceTest, EachStateThatIsSetIsAnEvent) {
  ASSERT_TRUE(Register(kBoth).ok());
  for (const Ready ready :
       {Ready::kReadable, Ready::kWritable, kReadyForBoth}) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(readiness_.Set(ready).ok());
      EXPECT_EQ(readiness_.Get(), ready);
      EXPECT_EQ(Poll(), ready);
      EXPECT_EQ(Poll(), Ready());
    }
  }
}

TEST_F(UserSourceTest, SeveralEventsBecomeOne) {
  ASSERT_TRUE(Register(kBoth).ok());
  ASSERT_TRUE(readiness_.Set(Ready::kReadable).ok());
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(), kReadyForBoth);
  EXPECT_EQ(Poll(), Ready());
}

TEST_F(UserSourceTest, AStateThatIsTakenAwayIsNotReported) {
  ASSERT_TRUE(Register(kBoth).ok());
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  ASSERT_TRUE(readiness_.Set(Ready::kWritable).ok());
  EXPECT_EQ(Poll(), Ready::kWritable);
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  ASSERT_TRUE(readiness_.Set(Ready()).ok());
  EXPECT_EQ(Poll(), Ready());
  EXPECT_EQ(readiness_.Get(), Ready());
}

TEST_F(UserSourceTest, RegisteringReportsWhatHoldsAlready) {
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  ASSERT_TRUE(Register(kBoth).ok());
  EXPECT_EQ(Poll(), kReadyForBoth);
}

TEST_F(UserSourceTest, OnlyTheKindsOfInterestAreReported) {
  ASSERT_TRUE(Register(Interest::kReadable).ok());
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(), Ready::kReadable);
  // The interest and the token can be changed.
  const Registry& registry = poller_.registry();
  ASSERT_TRUE(registry.Reregister(source_, kOther, Interest::kWritable).ok());
  EXPECT_EQ(Poll(kOther), Ready::kWritable);
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(kOther), Ready::kWritable);
  ASSERT_TRUE(registry.Reregister(source_, kToken, kBoth).ok());
  EXPECT_EQ(Poll(), kReadyForBoth);
}

TEST_F(UserSourceTest, DeregisteringEndsTheReports) {
  const Registry& registry = poller_.registry();
  EXPECT_EQ(registry.Deregister(source_).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(registry.Reregister(source_, kToken, kBoth).code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(Register(kBoth).ok());
  EXPECT_EQ(Register(kBoth).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(registry.Deregister(source_).ok());
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(), Ready());
  ASSERT_TRUE(Register(kBoth).ok());
  EXPECT_EQ(Poll(), kReadyForBoth);
}

TEST_F(UserSourceTest, OtherStatesAreInvalidArgument) {
  EXPECT_EQ(Register(Interest::kPriority).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(readiness_.Set(Ready::kReadable).ok());
  for (const Ready ready : {Ready::kError, Ready::kPriority,
                            Ready::kReadable | Ready::kReadClosed}) {
    EXPECT_EQ(readiness_.Set(ready).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(readiness_.Get(), Ready::kReadable);
}

TEST_F(UserSourceTest, ASourceThatIsRefusedIsNotRegistered) {
  int calls = 0;
  absl::Status status;
  const bool supported = WithCallsThatMayFail(
      {SYS_epoll_ctl}, ENOSPC, [&calls] { return ++calls == 2; },
      [&] { status = Register(kBoth); });
  if (!supported) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(calls, 3);
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(), Ready());
  EXPECT_TRUE(Register(kBoth).ok());
}

TEST_F(UserSourceTest, AFailedChangeLeavesTheInterest) {
  ASSERT_TRUE(Register(Interest::kReadable).ok());
  absl::Status status;
  const bool supported = WithFailingCalls({SYS_epoll_ctl}, ENOSPC, [&] {
    status = poller_.registry().Reregister(source_, kOther, kBoth);
  });
  if (!supported) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  EXPECT_EQ(Poll(), Ready::kReadable);
}

TEST_F(UserSourceTest, OutOfDescriptorsIsResourceExhausted) {
  int calls = 0;
  absl::Status status;
  const bool supported = WithCallsThatMayFail(
      {SYS_eventfd2}, EMFILE, [&calls] { return ++calls == 2; },
      [&] { status = UserSource::Create().status(); });
  if (!supported) GTEST_SKIP() << "no filters of system calls here";
  // The fixture sees that the first eventfd is closed.
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(UserSourceTest, CopiesSetTheSameReadiness) {
  ASSERT_TRUE(Register(kBoth).ok());
  const SetReadiness copy = readiness_;
  ASSERT_TRUE(copy.Set(Ready::kReadable).ok());
  EXPECT_EQ(readiness_.Get(), Ready::kReadable);
  EXPECT_EQ(Poll(), Ready::kReadable);
}

TEST_F(UserSourceTest, MovingItMovesTheRegistration) {
  ASSERT_TRUE(Register(kBoth).ok());
  UserSource moved = std::move(source_);
  ASSERT_TRUE(readiness_.Set(Ready::kReadable).ok());
  EXPECT_EQ(Poll(), Ready::kReadable);
  EXPECT_TRUE(poller_.registry().Deregister(moved).ok());
  source_ = std::move(moved);
  EXPECT_TRUE(Register(kBoth).ok());
}

TEST_F(UserSourceTest, TheReadinessOutlivesTheSource) {
  {
    const auto evented = PollEvented<UserSource>::Create(
        std::move(source_), kBoth, reactor_.handle());
    ASSERT_TRUE(evented.ok()) << evented.status();
  }
  EXPECT_TRUE(reactor_.IsIdle());
  EXPECT_TRUE(readiness_.Set(Ready::kReadable).ok());
  EXPECT_EQ(Turn(), 0u);
}

TEST_F(UserSourceTest, WakesTheTasksThatWait) {
  auto evented = PollEvented<UserSource>::Create(std::move(source_), kBoth,
                                                 reactor_.handle());
  ASSERT_TRUE(evented.ok()) << evented.status();
  const Registration& registration = evented->registration();
  Context cx(task_.waker());
  Context other_cx(other_.waker());
  ASSERT_TRUE(registration.PollReady(Direction::kRead, cx).IsPending());
  ASSERT_TRUE(registration.PollReady(Direction::kWrite, other_cx).IsPending());
  ASSERT_TRUE(readiness_.Set(Ready::kReadable).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 0);
  const auto event = registration.PollReady(Direction::kRead, cx);
  ASSERT_TRUE(event.IsReady());
  EXPECT_EQ((*event)->ready(), Ready::kReadable);

  // The task found nothing; the next element is news.
  registration.WouldBlock(**event);
  ASSERT_TRUE(registration.PollReady(Direction::kRead, cx).IsPending());
  ASSERT_TRUE(readiness_.Set(Ready::kReadable).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 2);

  ASSERT_TRUE(evented->Reregister(Interest::kWritable).ok());
  ASSERT_TRUE(readiness_.Set(kReadyForBoth).ok());
  Turn();
  EXPECT_EQ(other_.wakes(), 1);
}

// A counter stands for a queue. The consumer misses no element, although it
// waits only when the counter was zero.
TEST_F(UserSourceTest, NoElementIsMissed) {
  constexpr int kThreads = 2;
  constexpr int kElements = 2000;
  auto evented = PollEvented<UserSource>::Create(
      std::move(source_), Interest::kReadable, reactor_.handle());
  ASSERT_TRUE(evented.ok()) << evented.status();
  ThreadMutex mu;
  int queue = 0;  // guarded by `mu`
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back([&mu, &queue, readiness = readiness_] {
      for (int k = 0; k < kElements; ++k) {
        {
          const ThreadMutexLock lock(&mu);
          ++queue;
        }
        EXPECT_TRUE(readiness.Set(Ready::kReadable).ok());
      }
    });
  }
  const Registration& registration = evented->registration();
  for (int taken = 0; taken < kThreads * kElements;) {
    Context cx(task_.waker());
    Waiter waiter;
    const auto event = registration.PollReady(Direction::kRead, cx, &waiter);
    if (event.IsPending()) {
      reactor_.Park();
      continue;
    }
    int found;
    {
      const ThreadMutexLock lock(&mu);
      found = std::exchange(queue, 0);
    }
    if (found == 0) registration.WouldBlock(**event);
    taken += found;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(queue, 0);
}

}  // namespace
}  // namespace rouse::reactor
