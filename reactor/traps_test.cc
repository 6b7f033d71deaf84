// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the reactor bugs of Tokio and mio that this design had to avoid, each
// with a test of its number, and the defects of the reactor whose interface
// this one follows (tokio-reactor 0.1.9), each with a test of its own. "#" is
// an issue of tokio-rs/tokio unless marked mio. The tests use what a user uses.
// Other tests, closer to the code, are next to the parts and name the trap as
// well.
//
// The following bugs cannot occur here, or have no test here:
//
//   R9   (#6133, a tick that all sources shared, and hung when it wrapped).
//        Each source has its own tick; readiness_word_test.cc tests that a tick
//        does not wrap into other bits. See also R9 below.
//   R15  (#8001, an attempt to connect whose error was not fetched) concerns
//        sockets: net/tcp/tcp_stream_test.cc, ARefusedConnectionIsUnavailable.
//   R20  (mio #1722, the ends of a waker's pipe swapped). There is no pipe: an
//        eventfd has one end.
//   R22  (#8277, #7983, io_uring's completions). There is no such back end.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/event_waker.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/selector.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {
namespace {

constexpr Interest kBoth = Interest::kReadable | Interest::kWritable;

class TrapsTest : public ReactorTest {
 protected:
  TrapsTest() { std::tie(a_, b_) = MakeSocketPair(); }

  absl::StatusOr<Registration> Register(int fd, Interest interest = kBoth) {
    return Registration::Create(fd, interest, reactor_.handle());
  }

  static PollResult<absl::StatusOr<ReadyEvent>> Poll(
      const Registration& registration, Direction direction, const Waker& waker,
      Waiter* waiter = nullptr) {
    Context cx(waker);
    return registration.PollReady(direction, cx, waiter);
  }

  bool IsReady(const Registration& registration, Direction direction) {
    Waiter waiter;
    return Poll(registration, direction, runner_.waker(), &waiter).IsReady();
  }

  // Puts `registration` into the state after a system call that failed with
  // EAGAIN.
  void Exhaust(const Registration& registration, Direction direction) {
    const auto event = Poll(registration, direction, runner_.waker());
    ASSERT_TRUE(event.IsReady());
    registration.WouldBlock(**event);
  }

  OwnedFd a_, b_;
};

// #401, #409: tasks were notified under the lock, and hung when they called
// back.
TEST_F(TrapsTest, R1AWokenTaskCanDoAnything) {
  std::optional<Registration> registration(
      Register(a_.get(), Interest::kReadable).value());
  std::optional<Registration> another;
  int woken = 0;
  Waker waker = Waker::FromCallable([&] {
    ++woken;
    EXPECT_TRUE(registration->Deregister().ok());
    another = Register(a_.get(), Interest::kReadable).value();
    EXPECT_FALSE(IsReady(*another, Direction::kRead));
    EXPECT_FALSE(reactor_.IsIdle());
    reactor_.unparker().Unpark();
  });
  ASSERT_TRUE(Poll(*registration, Direction::kRead, waker).IsPending());
  WriteTo(b_.get(), "x");
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(*another, Direction::kRead));
}

TEST_F(TrapsTest, R1ATaskWokenByADeregistrationCanDoAnything) {
  std::optional<Registration> registration(Register(a_.get()).value());
  std::optional<Registration> another;
  Waker waker = Waker::FromCallable([&] {
    another = Register(a_.get()).value();
    EXPECT_FALSE(IsReady(*another, Direction::kWrite));
  });
  ASSERT_TRUE(Poll(*registration, Direction::kRead, waker).IsPending());
  registration.reset();
  ASSERT_TRUE(another.has_value());
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(*another, Direction::kWrite));
}

// #243: the event of a deregistered source reached the next owner of its token.
TEST_F(TrapsTest, R2AStaleEventReachesNoTask) {
  const OwnedFd duplicate(fcntl(a_.get(), F_DUPFD_CLOEXEC, 0));
  std::optional<Registration> unregistered(
      Register(a_.get(), Interest::kReadable).value());
  a_.Reset();
  unregistered.reset();  // fails (descriptor closed): the queue keeps it
  auto [c, d] = MakeSocketPair();
  const Registration next = Register(c.get(), Interest::kReadable).value();
  ASSERT_TRUE(Poll(next, Direction::kRead, task_.waker()).IsPending());
  WriteTo(b_.get(), "x");
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_FALSE(IsReady(next, Direction::kRead));
}

// #2174, #2218: EPOLLERR alone, as reported for a pipe's writing end, woke only
// the reader.
TEST_F(TrapsTest, R3AnErrorWakesBothDirections) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  OwnedFd reading(ends[0]);
  const OwnedFd writing(ends[1]);
  const Registration registration = Register(writing.get()).value();
  Turn();
  Exhaust(registration, Direction::kWrite);
  ASSERT_TRUE(Poll(registration, Direction::kRead, task_.waker()).IsPending());
  ASSERT_TRUE(
      Poll(registration, Direction::kWrite, other_.waker()).IsPending());
  reading.Reset();
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

// #2887: a waiter for one direction used up the readiness of the other.
TEST_F(TrapsTest, R4OneDirectionUsesUpItsOwnReadiness) {
  const Registration registration = Register(a_.get()).value();
  WriteTo(b_.get(), "x");
  EXPECT_EQ(Turn(), 1u);  // one event for both
  Exhaust(registration, Direction::kRead);
  EXPECT_FALSE(IsReady(registration, Direction::kRead));
  EXPECT_TRUE(IsReady(registration, Direction::kWrite));
}

// #2903, #2924.
TEST_F(TrapsTest, R5AShutdownWakesAllWaiters) {
  constexpr int kWaiters = 100;  // more than one batch
  const Registration registration = Register(a_.get()).value();
  Turn();
  Exhaust(registration, Direction::kWrite);
  std::deque<Waiter> waiters(kWaiters);
  for (int i = 0; i < kWaiters; ++i) {
    ASSERT_TRUE(Poll(registration,
                     i % 2 == 0 ? Direction::kRead : Direction::kWrite,
                     task_.waker(), &waiters[static_cast<size_t>(i)])
                    .IsPending());
  }
  ASSERT_TRUE(Poll(registration, Direction::kRead, other_.waker()).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), kWaiters);
  EXPECT_EQ(other_.wakes(), 1);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    const auto event = Poll(registration, direction, runner_.waker());
    ASSERT_TRUE(event.IsReady());
    EXPECT_TRUE(absl::IsUnavailable(event->status()));
  }
}

// #3014, #3019: an index was one too high where the table grows.
TEST_F(TrapsTest, R6EachSourceHasItsOwnEvents) {
  constexpr int kSources = 200;  // past two boundaries of the table
  std::deque<CountingWaker> tasks(kSources);
  for (int round = 0; round < 2; ++round) {
    std::vector<OwnedFd> fds;
    std::vector<Registration> registrations;
    for (int i = 0; i < kSources; ++i) {
      fds.emplace_back(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      registrations.push_back(
          Register(fds.back().get(), Interest::kReadable).value());
      ASSERT_TRUE(Poll(registrations.back(), Direction::kRead,
                       tasks[static_cast<size_t>(i)].waker())
                      .IsPending());
    }
    for (size_t i = 0; i < kSources; ++i) {
      ASSERT_EQ(eventfd_write(fds[i].get(), 1), 0);
      ASSERT_EQ(Turn(), 1u);
      ASSERT_EQ(tasks[i].wakes(), round + 1);
      ASSERT_EQ(tasks[i].live(), 0);
    }
  }
}

// #3477, #3481: a task owns its source, and the source keeps the task's waker.
TEST_F(TrapsTest, R7AShutdownBreaksTheCycleOfTaskAndSource) {
  struct Task {
    std::optional<Registration> registration;
  };
  auto task = std::make_shared<Task>();
  const std::weak_ptr<Task> watch = task;
  task->registration = Register(a_.get()).value();
  {
    Waker waker = Waker::FromCallable([task] {});
    ASSERT_TRUE(Poll(*task->registration, Direction::kRead, waker).IsPending());
  }
  task.reset();
  ASSERT_FALSE(watch.expired());
  reactor_.Shutdown();
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(reactor_.IsIdle());
}

// #5098, #5231: closed states were wrong, here for a socket that is not
// connected yet. Such states do not make a reader spin.
TEST_F(TrapsTest, R8AWrongClosedStateIsNotKept) {
  const OwnedFd fresh(
      socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const Registration registration = Register(fresh.get()).value();
  Turn();
  ASSERT_TRUE(IsReady(registration, Direction::kRead));
  Exhaust(registration, Direction::kRead);
  EXPECT_FALSE(IsReady(registration, Direction::kRead));
}

// #6133, #6134.
TEST_F(TrapsTest, R9EventsOfOtherSourcesDoNotCount) {
  const Registration registration = Register(a_.get()).value();
  const Registration busy = Register(b_.get()).value();
  Turn();
  const auto event = Poll(registration, Direction::kWrite, runner_.waker());
  ASSERT_TRUE(event.IsReady());
  const OwnedFd counter(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const Registration counting = Register(counter.get()).value();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(eventfd_write(counter.get(), 1), 0);
    ASSERT_EQ(Turn(), 1u);
  }
  registration.WouldBlock(**event);
  EXPECT_FALSE(IsReady(registration, Direction::kWrite));
}

// #6135, #8331: with a tick of eight bits, the 256th event since the check was
// mistaken for no event.
TEST_F(TrapsTest, R10NoNumberOfEventsWrapsToNone) {
  const OwnedFd counter(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const Registration registration =
      Register(counter.get(), Interest::kReadable).value();
  ASSERT_EQ(eventfd_write(counter.get(), 1), 0);
  ASSERT_EQ(Turn(), 1u);
  for (const int events : {1 << 8, 1 << 15}) {
    const auto seen = Poll(registration, Direction::kRead, runner_.waker());
    ASSERT_TRUE(seen.IsReady());
    for (int i = 0; i < events; ++i) {
      ASSERT_EQ(eventfd_write(counter.get(), 1), 0);
      ASSERT_EQ(Turn(), 1u);
    }
    registration.WouldBlock(**seen);
    EXPECT_TRUE(IsReady(registration, Direction::kRead)) << events;
  }
}

// #8054, #8066, #8221: with one tick for both directions, a reader and a writer
// that both get EAGAIN keep each other's readiness from being cleared.
TEST_F(TrapsTest, R11AReaderAndAWriterAreIndependent) {
  const Registration registration = Register(a_.get()).value();
  char bytes[65536];
  // The writer's event comes while the reader's attempt would block.
  while (send(a_.get(), "0123456789abcdef", 16, MSG_NOSIGNAL) > 0) {
  }
  WriteTo(b_.get(), "x");
  Turn();
  const auto to_read = Poll(registration, Direction::kRead, task_.waker());
  ASSERT_TRUE(to_read.IsReady());
  ASSERT_EQ(recv(a_.get(), bytes, sizeof bytes, 0), 1);
  while (recv(b_.get(), bytes, sizeof bytes, 0) > 0) {
  }
  ASSERT_EQ(Turn(), 1u);
  registration.WouldBlock(**to_read);
  EXPECT_FALSE(IsReady(registration, Direction::kRead));

  // Repeats the case with the directions exchanged.
  const auto to_write = Poll(registration, Direction::kWrite, other_.waker());
  ASSERT_TRUE(to_write.IsReady());
  while (send(a_.get(), "0123456789abcdef", 16, MSG_NOSIGNAL) > 0) {
  }
  WriteTo(b_.get(), "y");
  ASSERT_EQ(Turn(), 1u);
  registration.WouldBlock(**to_write);
  EXPECT_FALSE(IsReady(registration, Direction::kWrite));
  EXPECT_TRUE(IsReady(registration, Direction::kRead));
}

// #6329, #7773.
TEST_F(TrapsTest, R12AFailedRegistrationLeavesNothingBehind) {
  const OwnedFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(absl::IsPermissionDenied(Register(file.get()).status()));
  const Registration registration = Register(a_.get()).value();
  EXPECT_TRUE(absl::IsAlreadyExists(Register(a_.get()).status()));
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(registration, Direction::kWrite));
}

// #5946, #6221, #4782: one task with a source that is always ready occupied its
// thread.
TEST_F(TrapsTest, R13AnAlwaysReadySourceLetsOtherTasksRun) {
  const Registration registration = Register(a_.get()).value();
  Turn();
  Context cx(task_.waker());
  const auto poll = [&] {
    return registration.PollIo(
        Direction::kWrite, cx, nullptr, 0, [] { return ssize_t{1}; },
        [](int error) { return absl::ErrnoToStatus(error, ""); });
  };
  uint32_t calls = 0;
  while (poll().IsReady()) ++calls;
  EXPECT_EQ(calls, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

// #5866, #6668: a short read means that nothing more is available, unless the
// end has come with the bytes, because no other event reports the end.
TEST_F(TrapsTest, R14AShortReadDoesNotHideTheEnd) {
  const Registration registration = Register(a_.get()).value();
  WriteTo(b_.get(), "x");
  ASSERT_EQ(shutdown(b_.get(), SHUT_WR), 0);
  Turn();
  const auto read = [&] {
    char buffer[8];
    Context cx(task_.waker());
    return registration.PollIo(
        Direction::kRead, cx, nullptr, sizeof buffer,
        [&] { return recv(a_.get(), buffer, sizeof buffer, 0); },
        [](int error) { return absl::ErrnoToStatus(error, "recv"); });
  };
  EXPECT_EQ(read()->value(), 1u);
  const auto end = read();
  ASSERT_TRUE(end.IsReady());
  EXPECT_EQ(end->value(), 0u);
}

// #3898.
TEST_F(TrapsTest, R16AHangupWakesBothDirections) {
  const Registration registration = Register(a_.get()).value();
  Turn();
  Exhaust(registration, Direction::kWrite);
  ASSERT_TRUE(Poll(registration, Direction::kRead, task_.waker()).IsPending());
  ASSERT_TRUE(
      Poll(registration, Direction::kWrite, other_.waker()).IsPending());
  b_.Reset();
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  const auto event = Poll(registration, Direction::kRead, runner_.waker());
  EXPECT_TRUE((*event)->ready().IsReadClosed());
}

// mio #1615, #1616, #1642, #1657, #1948.
TEST_F(TrapsTest, R17AShortWaitIsNotZeroAndALongWaitIsNotNegative) {
  EXPECT_EQ(internal::TimeoutMillis(absl::Nanoseconds(1) / 4), 1);
  EXPECT_EQ(internal::TimeoutMillis(absl::Microseconds(999)), 1);
  EXPECT_EQ(internal::TimeoutMillis(absl::Hours(1e12)), INT_MAX);
  for (const absl::Duration limit :
       {absl::Seconds(INT64_MAX), absl::Hours(1e12),
        absl::InfiniteDuration()}) {
    // A wait that was cut to zero, or refused, would miss this event.
    reactor_.unparker().Unpark();
    ASSERT_TRUE(reactor_.Turn(limit).ok());
    std::thread unparking(
        [unparker = reactor_.unparker()] { unparker.Unpark(); });
    ASSERT_TRUE(reactor_.Turn(limit).ok());
    unparking.join();
  }
}

// mio #1636.
TEST_F(TrapsTest, R18AFailedSetupLeavesNothingOpen) {
  ASSERT_TRUE(Reactor::Create().ok());  // UBSan may need a descriptor
  const size_t before = CountOpenFds();
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  {
    const OwnedFd highest(fcntl(a_.get(), F_DUPFD_CLOEXEC, 0));
    rlimit less = limit;
    less.rlim_cur = static_cast<rlim_t>(highest.get()) + 2;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
    const absl::Status status = Reactor::Create().status();
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  }
  EXPECT_EQ(CountOpenFds(), before);
}

// mio #1706.
TEST_F(TrapsTest, R19APollerHasOneWaker) {
  const Poller poller = Poller::Create().value();
  const auto waker = EventWaker::Create(poller.registry(), Token(1));
  ASSERT_TRUE(waker.ok());
  EXPECT_TRUE(absl::IsAlreadyExists(
      EventWaker::Create(poller.registry(), Token(2)).status()));
}

// mio #1826: a write to an eventfd that is full or not empty still makes an
// event.
TEST_F(TrapsTest, R21AWakerWakesAtAnyCounterValue) {
  Poller poller = Poller::Create().value();
  const EventWaker waker =
      EventWaker::Create(poller.registry(), Token(7)).value();
  Events events(4);
  const uint64_t all_but_full = UINT64_MAX - 1;
  ASSERT_EQ(write(waker.fd(), &all_but_full, sizeof all_but_full), 8);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(waker.Wake().ok());
    ASSERT_TRUE(poller.Poll(events, absl::InfiniteDuration()).ok());
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].token(), Token(7));
  }
}

// A second task that polled the same direction reached code marked
// "unreachable".
TEST_F(TrapsTest, Defect1SeveralTasksCanPollOneDirection) {
  const Registration registration = Register(a_.get()).value();
  Waiter first, second;
  ASSERT_TRUE(
      Poll(registration, Direction::kRead, task_.waker(), &first).IsPending());
  ASSERT_TRUE(Poll(registration, Direction::kRead, other_.waker(), &second)
                  .IsPending());
  ASSERT_TRUE(
      Poll(registration, Direction::kRead, runner_.waker()).IsPending());
  WriteTo(b_.get(), "x");
  Turn();
  for (const CountingWaker* task : {&task_, &other_, &runner_}) {
    EXPECT_EQ(task->wakes(), 1);
  }
}

// A registration that the system refused kept its place in the table.
TEST_F(TrapsTest, Defect2ARefusedRegistrationKeepsNoSlot) {
  Options options;
  options.max_sources = 1;
  const Reactor small = Reactor::Create(options).value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(absl::IsFailedPrecondition(
        Registration::Create(-1, kBoth, small.handle()).status()));
  }
  EXPECT_TRUE(small.IsIdle());
  EXPECT_TRUE(Registration::Create(a_.get(), kBoth, small.handle()).ok());
}

// Only the reader was notified of an error.
TEST_F(TrapsTest, Defect3AnErrorWakesTheWriterAsWell) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  OwnedFd reading(ends[0]);
  const OwnedFd writing(ends[1]);
  // With this interest only errors are reported.
  const Registration registration =
      Register(writing.get(), Interest::kReadable).value();
  ASSERT_TRUE(Poll(registration, Direction::kWrite, task_.waker()).IsPending());
  reading.Reset();
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  const auto event = Poll(registration, Direction::kWrite, task_.waker());
  ASSERT_TRUE(event.IsReady());
  EXPECT_TRUE((*event)->ready().IsError());
}

// An event between a refused call and the clearing of readiness was cleared
// with the readiness.
TEST_F(TrapsTest, Defect4AnEventBeforeTheClearIsKept) {
  const Registration registration = Register(a_.get()).value();
  WriteTo(b_.get(), "x");
  Turn();
  Waiter waiter;
  const auto seen =
      Poll(registration, Direction::kRead, task_.waker(), &waiter);
  ASSERT_TRUE(seen.IsReady());
  char bytes[2];
  ASSERT_EQ(recv(a_.get(), bytes, sizeof bytes, 0), 1);
  ASSERT_EQ(recv(a_.get(), bytes, sizeof bytes, 0), -1);
  ASSERT_EQ(errno, EAGAIN);
  WriteTo(b_.get(), "y");
  Turn();
  registration.WouldBlock(**seen);
  EXPECT_TRUE(
      Poll(registration, Direction::kRead, task_.waker(), &waiter).IsReady());
}

// A signal that interrupted the wait was reported as an error.
TEST_F(TrapsTest, Defect5ASignalIsNotAnError) {
  struct sigaction before;
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &nothing, &before), 0);
  Atomic<bool> done{false};
  std::thread parking([&] {
    // Waits with and without a limit, because the kernel has a separate call
    // for each.
    EXPECT_EQ(reactor_.Turn(absl::InfiniteDuration()).value(), 0u);
    EXPECT_EQ(reactor_.Turn(absl::Hours(24)).value(), 0u);
    done.store(true, std::memory_order_relaxed);
  });
  while (!done.load(std::memory_order_relaxed)) {
    pthread_kill(parking.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  parking.join();
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

// The guard against stale events wrapped around after 2^10 sources of a slot.
TEST_F(TrapsTest, Defect6StaleEventsStayStale) {
  const OwnedFd duplicate(fcntl(a_.get(), F_DUPFD_CLOEXEC, 0));
  {
    const Registration temporary =
        Register(a_.get(), Interest::kReadable).value();
    a_.Reset();
  }
  auto [c, d] = MakeSocketPair();
  for (int i = 0; i < 3 * 1024 + 1; ++i) {
    const Registration next = Register(c.get(), Interest::kReadable).value();
    if (i % 1024 > 1 && i % 1024 < 1022) continue;
    WriteTo(b_.get(), "x");
    ASSERT_EQ(Turn(), 1u);
    ASSERT_FALSE(IsReady(next, Direction::kRead)) << i;
  }
}

// Tasks were notified under the lock when the reactor was destroyed.
TEST_F(TrapsTest, Defect7ATaskWokenByAShutdownCanDoAnything) {
  std::optional<Reactor> reactor(Reactor::Create().value());
  const Handle handle = reactor->handle();
  std::optional<Registration> registration(
      Registration::Create(a_.get(), kBoth, handle).value());
  const Registration other =
      Registration::Create(b_.get(), kBoth, handle).value();
  int woken = 0;
  Waker waker = Waker::FromCallable([&] {
    ++woken;
    EXPECT_TRUE(registration->Deregister().ok());
    EXPECT_TRUE(absl::IsUnavailable(
        Registration::Create(a_.get(), kBoth, handle).status()));
    const auto event = Poll(other, Direction::kRead, runner_.waker());
    ASSERT_TRUE(event.IsReady());
    EXPECT_TRUE(absl::IsUnavailable(event->status()));
  });
  ASSERT_TRUE(Poll(*registration, Direction::kRead, waker).IsPending());
  reactor.reset();
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace rouse::reactor
