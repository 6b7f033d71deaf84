// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/reactor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {
namespace {

TEST_F(ReactorTest, ATurnWithNothingToDoReturns) {
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
  EXPECT_EQ(reactor_.Turn(-absl::Seconds(1)).value(), 0u);
  EXPECT_EQ(reactor_.Turn(absl::Microseconds(10)).value(), 0u);
}

TEST_F(ReactorTest, AnUnparkEndsTheNextPark) {
  reactor_.unparker().Unpark();
  reactor_.Park();
  reactor_.unparker().Unpark();
  reactor_.ParkFor(absl::Hours(24));
}

TEST_F(ReactorTest, AnUnparkEndsAPark) {
  std::thread other([unparker = reactor_.unparker()] { unparker.Unpark(); });
  reactor_.Park();
  other.join();
}

TEST_F(ReactorTest, SeveralUnparksEndOnePark) {
  const Reactor::Unparker unparker = reactor_.unparker();
  unparker.Unpark();
  unparker.Unpark();
  reactor_.Park();
  // If the second unpark had been kept, this turn would return without waiting,
  // and there would be one unpark too many below.
  EXPECT_EQ(reactor_.Turn(absl::Microseconds(1)).value(), 0u);
}

// No thread is parked, so the event queue has no event.
TEST_F(ReactorTest, AnUnparkWithoutAParkedThreadMakesNoEvent) {
  reactor_.unparker().Unpark();
  reactor_.unparker().Unpark();
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
}

TEST_F(ReactorTest, AParkSeesWhatCameBeforeTheUnpark) {
  for (int i = 0; i < 200; ++i) {
    // Not atomic: only the unpark orders the value.
    int value = 0;
    Atomic<bool> unparked{false};
    std::thread other([&, unparker = reactor_.unparker()] {
      value = i + 1;
      unparked.store(true, std::memory_order_relaxed);
      unparker.Unpark();
    });
    // The event of a late unpark may end a park without a reason.
    do {
      reactor_.Park();
    } while (!unparked.load(std::memory_order_relaxed));
    if (value != i + 1) ADD_FAILURE() << value;
    other.join();
  }
}

TEST_F(ReactorTest, AnUnparkDuringADispatchEndsItsPark) {
  auto [a, b] = MakeSocketPair();
  absl::StatusOr<Registration> registration =
      Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
  ASSERT_TRUE(registration.ok());
  const Waker waker = Waker::FromCallable(
      [unparker = reactor_.unparker()] { unparker.Unpark(); });
  Context cx(waker);
  ASSERT_TRUE(registration->PollReady(Direction::kWrite, cx).IsPending());
  ASSERT_EQ(reactor_.Turn(absl::Hours(1)).value(), 1u);
  // The unpark is neither kept nor in the event queue.
  EXPECT_EQ(reactor_.Turn(absl::Microseconds(1)).value(), 0u);
}

TEST_F(ReactorTest, AnUnparkerOutlivesTheReactor) {
  std::optional<Reactor> reactor(Reactor::Create().value());
  const Reactor::Unparker unparker = reactor->unparker();
  reactor.reset();
  unparker.Unpark();
}

TEST_F(ReactorTest, AMovedReactorStillWorks) {
  const Reactor::Unparker unparker = reactor_.unparker();
  Reactor moved = std::move(reactor_);
  unparker.Unpark();
  moved.Park();
  EXPECT_FALSE(moved.handle().IsShutDown());
}

TEST_F(ReactorTest, AfterAShutdownATurnIsUnavailable) {
  reactor_.Shutdown();
  reactor_.Shutdown();
  EXPECT_EQ(reactor_.Turn(absl::InfiniteDuration()).status().code(),
            absl::StatusCode::kUnavailable);
  reactor_.Park();
  EXPECT_TRUE(reactor_.handle().IsShutDown());
}

TEST_F(ReactorTest, AShutdownEndsAPark) {
  std::thread other([this] { reactor_.Shutdown(); });
  reactor_.Park();
  other.join();
}

TEST_F(ReactorTest, IsIdleWithoutSources) {
  EXPECT_TRUE(reactor_.IsIdle());
  auto [a, b] = MakeSocketPair();
  {
    const absl::StatusOr<Registration> registration =
        Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
    EXPECT_FALSE(reactor_.IsIdle());
  }
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(ReactorTest, TakesAtMostTheGivenNumberOfEvents) {
  Options options;
  options.events_per_turn = 1;
  Reactor reactor = Reactor::Create(options).value();
  auto [a, b] = MakeSocketPair();
  const auto first =
      Registration::Create(a.get(), Interest::kWritable, reactor.handle());
  const auto second =
      Registration::Create(b.get(), Interest::kWritable, reactor.handle());
  EXPECT_EQ(reactor.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_EQ(reactor.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_EQ(reactor.Turn(absl::ZeroDuration()).value(), 0u);
}

// R18: a failed creation leaves nothing open.
TEST_F(ReactorTest, OutOfDescriptorsIsResourceExhausted) {
  const size_t before = CountOpenFds();
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  // First there is one descriptor for the queue but none for the waker; then
  // there is none at all.
  OwnedFd highest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const rlim_t room : {1, 0}) {
    rlimit less = limit;
    less.rlim_cur = static_cast<rlim_t>(highest.get()) + 1 + room;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
    const absl::Status status = Reactor::Create().status();
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  }
  highest.Reset();
  EXPECT_EQ(CountOpenFds(), before);
}

// Tests a reactor inside another event loop, which waits for the reactor.
class NestedReactorTest : public ReactorTest {
 protected:
  NestedReactorTest() : loop_(Poller::Create().value()) {
    EXPECT_TRUE(
        loop_.registry().Register(source_, Token(7), Interest::kReadable).ok());
  }
  ~NestedReactorTest() override {
    EXPECT_TRUE(loop_.registry().Deregister(source_).ok());
  }

  // Returns whether the other loop gets an event of the reactor.
  bool IsNotified(absl::Duration max_wait) {
    Events events(4);
    EXPECT_TRUE(loop_.Poll(events, max_wait).ok());
    return events.size() == 1;
  }

  FdSource source_{reactor_.fd()};
  Poller loop_;
};

TEST_F(NestedReactorTest, IsReadableWhileThereAreEvents) {
  auto [a, b] = MakeSocketPair();
  const auto registration =
      Registration::Create(a.get(), Interest::kReadable, reactor_.handle());
  EXPECT_FALSE(IsNotified(absl::ZeroDuration()));
  CountingWaker task;
  Context cx(task.waker());
  for (int round = 0; round < 3; ++round) {
    const auto ready = registration->PollReady(Direction::kRead, cx);
    if (ready.IsReady()) registration->WouldBlock(**ready);
    ASSERT_TRUE(registration->PollReady(Direction::kRead, cx).IsPending());
    ASSERT_TRUE(reactor_.PrepareToWait());
    std::thread other([&b = b] { WriteTo(b.get(), "x"); });
    EXPECT_TRUE(IsNotified(absl::InfiniteDuration()));
    EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
    other.join();
    EXPECT_EQ(task.wakes(), round + 1);
    EXPECT_FALSE(IsNotified(absl::ZeroDuration()));
  }
}

TEST_F(NestedReactorTest, AnUnparkEndsAPreparedWait) {
  for (int round = 0; round < 100; ++round) {
    int value = 0;
    Atomic<bool> unparked{false};
    std::thread other([&, unparker = reactor_.unparker()] {
      value = round + 1;
      unparked.store(true, std::memory_order_relaxed);
      unparker.Unpark();
    });
    while (!unparked.load(std::memory_order_relaxed)) {
      if (reactor_.PrepareToWait()) IsNotified(absl::InfiniteDuration());
      ASSERT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok());
    }
    // The event belongs to this round, and is not a late one.
    other.join();
    EXPECT_EQ(value, round + 1);
  }
}

TEST_F(NestedReactorTest, DoesNotPrepareToWaitAfterAnUnpark) {
  EXPECT_TRUE(reactor_.PrepareToWait());
  EXPECT_TRUE(reactor_.PrepareToWait());
  reactor_.unparker().Unpark();
  EXPECT_FALSE(reactor_.PrepareToWait());
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_TRUE(reactor_.PrepareToWait());
}

TEST_F(NestedReactorTest, AnUnparkWithoutPreparationMakesNoEvent) {
  EXPECT_TRUE(reactor_.PrepareToWait());
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
  reactor_.unparker().Unpark();
  EXPECT_FALSE(IsNotified(absl::ZeroDuration()));
}

TEST_F(NestedReactorTest, ARequestedTurnNeedsNoPreparation) {
  reactor_.RequestTurn();
  EXPECT_TRUE(IsNotified(absl::ZeroDuration()));
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_FALSE(IsNotified(absl::ZeroDuration()));
  EXPECT_TRUE(reactor_.PrepareToWait());
}

TEST_F(NestedReactorTest, ABlockingTurnCanFollowInstead) {
  EXPECT_TRUE(reactor_.PrepareToWait());
  EXPECT_EQ(reactor_.Turn(absl::Milliseconds(1)).value(), 0u);
  EXPECT_TRUE(reactor_.PrepareToWait());
  std::thread other([unparker = reactor_.unparker()] { unparker.Unpark(); });
  reactor_.Park();
  other.join();
}

// The turn that calls an unparking waker also serves the unpark.
TEST_F(NestedReactorTest, AnUnparkDuringADispatchMakesNoEvent) {
  auto [a, b] = MakeSocketPair();
  const auto registration =
      Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
  const Waker waker = Waker::FromCallable(
      [unparker = reactor_.unparker()] { unparker.Unpark(); });
  Context cx(waker);
  ASSERT_TRUE(registration->PollReady(Direction::kWrite, cx).IsPending());
  ASSERT_TRUE(reactor_.PrepareToWait());
  EXPECT_TRUE(IsNotified(absl::InfiniteDuration()));
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
  EXPECT_TRUE(reactor_.PrepareToWait());
  EXPECT_FALSE(IsNotified(absl::ZeroDuration()));
}

TEST_F(NestedReactorTest, AShutdownEndsAPreparedWait) {
  ASSERT_TRUE(reactor_.PrepareToWait());
  std::thread other([this] { reactor_.Shutdown(); });
  EXPECT_TRUE(IsNotified(absl::InfiniteDuration()));
  other.join();
  EXPECT_FALSE(reactor_.PrepareToWait());
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_FALSE(reactor_.PrepareToWait());
}

TEST_F(NestedReactorTest, PreparingToWaitWithinATurnPanics) {
  auto [a, b] = MakeSocketPair();
  const auto registration =
      Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
  const Waker waker =
      Waker::FromCallable([this] { (void)reactor_.PrepareToWait(); });
  Context cx(waker);
  ASSERT_TRUE(registration->PollReady(Direction::kWrite, cx).IsPending());
  EXPECT_PANIC((void)reactor_.Turn(absl::InfiniteDuration()),
               "Reactor::PrepareToWait()");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(ReactorTest, TwoThreadsInATurnPanic) {
  auto [a, b] = MakeSocketPair();
  const auto registration =
      Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
  // Keeps the other thread in its turn.
  absl::Notification entered;
  absl::Notification go_on;
  const Waker waker = Waker::FromCallable([&] {
    entered.Notify();
    go_on.WaitForNotification();
  });
  Context cx(waker);
  ASSERT_TRUE(registration->PollReady(Direction::kWrite, cx).IsPending());
  std::thread other([&] { reactor_.Park(); });
  entered.WaitForNotification();
  EXPECT_PANIC(reactor_.Turn(absl::ZeroDuration()).IgnoreError(),
               "two threads");
  EXPECT_PANIC(reactor_.Park(), "two threads");
  go_on.Notify();
  other.join();
  EXPECT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok());
}

TEST_F(ReactorTest, AThrowingWakerDoesNotStopTheOthers) {
  auto [a, b] = MakeSocketPair();
  const auto first =
      Registration::Create(a.get(), Interest::kWritable, reactor_.handle());
  const auto second =
      Registration::Create(b.get(), Interest::kWritable, reactor_.handle());
  const Waker throwing =
      Waker::FromCallable([] { throw std::runtime_error("from a waker"); });
  Context throwing_cx(throwing);
  CountingWaker task;
  Context cx(task.waker());
  ASSERT_TRUE(first->PollReady(Direction::kWrite, throwing_cx).IsPending());
  ASSERT_TRUE(second->PollReady(Direction::kWrite, cx).IsPending());
  EXPECT_THROW(reactor_.Turn(absl::InfiniteDuration()).IgnoreError(),
               std::runtime_error);
  EXPECT_EQ(task.wakes(), 1);
  // The reactor can be turned again.
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
}

#endif

}  // namespace
}  // namespace rouse::reactor
