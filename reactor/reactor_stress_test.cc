// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs threads that register, wait and deregister while another thread drives
// the reactor.

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::reactor {
namespace {

constexpr int kThreads = 3;

// Drives the reactor on a thread of its own until the reactor is shut down.
// Alternates between waits with and without a limit, because the kernel has a
// separate call for each.
class Driver {
 public:
  explicit Driver(Reactor& reactor)
      : reactor_(reactor), thread_([this] {
          while (!reactor_.handle().IsShutDown()) {
            reactor_.Park();
            reactor_.ParkFor(absl::Milliseconds(1));
          }
        }) {}
  ~Driver() {
    reactor_.Shutdown();
    thread_.join();
  }

 private:
  Reactor& reactor_;
  std::thread thread_;
};

class ReactorStressTest : public ReactorTest {
 protected:
  // Runs `body(thread number, generator)` on several threads.
  template <class Body>
  void OnThreads(Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([body, i] {
        FastRand rand(static_cast<uint64_t>(i) + 1);
        body(i, rand);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

// Blocks until the direction is ready.
absl::StatusOr<ReadyEvent> AwaitReady(const Registration& registration,
                                      Direction direction) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  Waiter waiter;
  for (;;) {
    Context cx(unparker.waker());
    auto event = registration.PollReady(direction, cx, &waiter);
    if (event.IsReady()) return *std::move(event);
    parker.Park();
  }
}

TEST_F(ReactorStressTest, NoEventIsLostOrReachesAnotherSource) {
  constexpr int kRounds = 1500;
  const Driver driver(reactor_);
  OnThreads([this](int, FastRand& rand) {
    CountingWaker idle;
    for (int round = 0; round < kRounds; ++round) {
      auto [a, b] = MakeSocketPair();
      absl::StatusOr<Registration> registration =
          Registration::Create(a.get(), Interest::kReadable, reactor_.handle());
      ASSERT_TRUE(registration.ok()) << registration.status();
      // Nothing has been written yet: an event would belong to another source.
      {
        Context cx(idle.waker());
        Waiter waiter;
        const auto event =
            registration->PollReady(Direction::kRead, cx, &waiter);
        ASSERT_TRUE(event.IsPending()) << "a stale event";
      }
      WriteTo(b.get(), "x");
      // Half of the registrations end while their event is on the way.
      if (rand.Below(2) == 0) continue;
      const auto event = AwaitReady(*registration, Direction::kRead);
      ASSERT_TRUE(event.ok()) << event.status();
      char byte;
      ASSERT_EQ(recv(a.get(), &byte, 1, 0), 1);
    }
  });
}

// D30: like the test above, with descriptors that were closed before they were
// deregistered, and that live on in duplicates.
TEST_F(ReactorStressTest, EventsOfClosedSourcesReachNoTask) {
  constexpr int kRounds = 500;
  const Driver driver(reactor_);
  OnThreads([this](int, FastRand&) {
    CountingWaker idle;
    for (int round = 0; round < kRounds; ++round) {
      auto [a, b] = MakeSocketPair();
      const OwnedFd duplicate(fcntl(a.get(), F_DUPFD_CLOEXEC, 0));
      std::optional<Registration> zombie =
          Registration::Create(a.get(), Interest::kReadable, reactor_.handle())
              .value();
      // Keeps the number in use, so that no other thread's descriptor is
      // deregistered.
      const OwnedFd other(open("/dev/null", O_RDONLY | O_CLOEXEC));
      ASSERT_EQ(dup3(other.get(), a.get(), O_CLOEXEC), a.get());
      zombie.reset();

      auto [c, d] = MakeSocketPair();
      const absl::StatusOr<Registration> registration =
          Registration::Create(c.get(), Interest::kReadable, reactor_.handle());
      ASSERT_TRUE(registration.ok());
      WriteTo(b.get(), "x");
      Context cx(idle.waker());
      Waiter waiter;
      ASSERT_TRUE(
          registration->PollReady(Direction::kRead, cx, &waiter).IsPending());
    }
  });
  // A destroyed pending waiter has dropped its waker; `CountingWaker` would
  // have counted a later stale event.
}

TEST_F(ReactorStressTest, WaitersAreAddedAndRemovedWhileEventsArrive) {
  constexpr int kRounds = 4000;
  auto [a, b] = MakeSocketPair();
  const absl::StatusOr<Registration> registration =
      Registration::Create(a.get(), Interest::kReadable, reactor_.handle());
  ASSERT_TRUE(registration.ok());
  const Driver driver(reactor_);
  Atomic<bool> done{false};
  std::thread writing([&, fd = b.get()] {
    char bytes[256];
    while (!done.load(std::memory_order_relaxed)) {
      // A full socket is fine too: the readers make room.
      (void)!send(fd, "x", 1, MSG_NOSIGNAL);
      (void)!recv(fd, bytes, sizeof bytes, 0);
      std::this_thread::yield();
    }
  });
  OnThreads([&, fd = a.get()](int, FastRand& rand) {
    for (int round = 0; round < kRounds; ++round) {
      if (rand.Below(4) != 0) {
        // A waiter that is destroyed at once.
        ThreadParker parker;
        const ThreadParker::Unparker unparker = parker.unparker();
        Context cx(unparker.waker());
        Waiter waiter;
        (void)registration->PollReady(Direction::kRead, cx, &waiter);
        continue;
      }
      const absl::StatusOr<ReadyEvent> event =
          AwaitReady(*registration, Direction::kRead);
      ASSERT_TRUE(event.ok());
      char bytes[256];
      if (recv(fd, bytes, sizeof bytes, 0) < 0) {
        ASSERT_EQ(errno, EAGAIN);
        registration->WouldBlock(*event);
      } else {
        registration->ClearReady(*event);
      }
    }
  });
  done.store(true, std::memory_order_relaxed);
  writing.join();
}

// Covers D32.
TEST_F(ReactorStressTest, AShutdownReachesConcurrentRegistrations) {
  for (int round = 0; round < 50; ++round) {
    Reactor reactor = Reactor::Create().value();
    Atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        auto [a, b] = MakeSocketPair();
        ready.fetch_add(1, std::memory_order_relaxed);
        for (;;) {
          const absl::StatusOr<Registration> registration =
              Registration::Create(a.get(), Interest::kReadable,
                                   reactor.handle());
          const absl::Status status =
              registration.ok()
                  ? AwaitReady(*registration, Direction::kRead).status()
                  : registration.status();
          ASSERT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
          if (!registration.ok()) break;
        }
      });
    }
    while (ready.load(std::memory_order_relaxed) < kThreads) {
      std::this_thread::yield();
    }
    reactor.Shutdown();
    for (std::thread& thread : threads) thread.join();
  }
}

// Each side waits for the other, so a lost unpark would stop the test here.
TEST_F(ReactorStressTest, NoUnparkIsLost) {
  constexpr uint32_t kRounds = 20000;
  Atomic<uint32_t> asked{0}, answered{0};
  std::thread parking([&] {
    for (uint32_t round = 1; round <= kRounds; ++round) {
      while (asked.load(std::memory_order_relaxed) < round) reactor_.Park();
      answered.store(round, std::memory_order_release);
    }
  });
  const Reactor::Unparker unparker = reactor_.unparker();
  for (uint32_t round = 1; round <= kRounds; ++round) {
    asked.store(round, std::memory_order_relaxed);
    unparker.Unpark();
    while (answered.load(std::memory_order_acquire) < round) {
      std::this_thread::yield();
    }
  }
  parking.join();
}

}  // namespace
}  // namespace rouse::reactor
