// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes thousands of connections at random, on threads that
// deregister connections while their events arrive. Checks that every awaited
// event arrives, that no event reaches another connection, that nothing is left
// open, and that no destroyed object is accessed (the sanitizers check this).
//
// See stress_time.h for the duration, and stress_seed.h for the randomness. If
// the time is given there are ten thousand connections, or as many as the limit
// of descriptors allows.

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
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
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::reactor {
namespace {

constexpr size_t kThreads = 16;

constexpr absl::Duration kUsualTime = absl::Milliseconds(300);
constexpr size_t kUsualConnections = 1000;

// Raises the limit of descriptors as far as possible. Returns a suitable number
// of connections.
size_t ManyConnections() {
  rlimit limit;
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const size_t pairs = static_cast<size_t>(limit.rlim_max) / 2 - 100;
  return std::min<size_t>(10000, pairs);
}

// A connection with this end registered. Remembers the bytes sent but not yet
// received, and may have a waiter.
class Connection {
 public:
  Connection(const Reactor& reactor, CountingWaker& idle) : idle_(idle) {
    std::tie(fd_, peer_) = MakeSocketPair();
    registration_.emplace(
        Registration::Create(fd_.get(), Interest::kReadable, reactor.handle())
            .value());
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  // Makes the idle task wait, possibly forever. Returns whether the task now
  // waits.
  bool Wait() {
    Context cx(idle_.waker());
    return registration_->PollReady(Direction::kRead, cx, &waiter_).IsPending();
  }

  void Send(char byte) {
    if (ended_ || pending_ > 0) return;
    ASSERT_EQ(send(peer_.get(), &byte, 1, MSG_NOSIGNAL), 1);
    byte_ = byte;
    pending_ = 1;
  }

  void EndPeer(bool all) {
    if (all) {
      peer_.Reset();
    } else if (!ended_) {
      ASSERT_EQ(shutdown(peer_.get(), SHUT_WR), 0);
    }
    ended_ = true;
  }

  // Blocks until all expected events have come.
  void Receive(ThreadParker& parker) {
    if (pending_ == 0 && !ended_) return;
    char byte = 0;
    const ThreadParker::Unparker unparker = parker.unparker();
    Waiter waiter;
    for (;;) {
      Context cx(unparker.waker());
      const auto size = registration_->PollIo(
          Direction::kRead, cx, &waiter, 1,
          [&] { return recv(fd_.get(), &byte, 1, 0); },
          [](int error) { return absl::ErrnoToStatus(error, "recv"); });
      if (size.IsPending()) {
        parker.Park();
        continue;
      }
      ASSERT_TRUE(size->ok()) << size->status();
      ASSERT_EQ(**size, pending_);
      if (pending_ == 1) {
        ASSERT_EQ(byte, byte_) << "somebody else's";
      }
      pending_ = 0;
      return;
    }
  }

 private:
  CountingWaker& idle_;
  OwnedFd fd_, peer_;
  // Destroyed before the descriptors, and the waiter before the registration.
  std::optional<Registration> registration_;
  Waiter waiter_;
  size_t pending_ = 0;
  char byte_ = 0;
  bool ended_ = false;
};

// Runs one thread's share of the connections until `end`, at least one
// connection. Returns the number of connections.
size_t RunShare(const Reactor& reactor, CountingWaker& idle, size_t share,
                absl::Time end, uint64_t seed) {
  SCOPED_TRACE(seed);
  FastRand rand(seed);
  ThreadParker parker;
  size_t made = 0;
  std::vector<std::unique_ptr<Connection>> connections(share);
  while ((made == 0 || absl::Now() < end) && !testing::Test::HasFailure()) {
    std::unique_ptr<Connection>& connection =
        connections[rand.Below(static_cast<uint32_t>(share))];
    if (connection == nullptr) {
      connection = std::make_unique<Connection>(reactor, idle);
      ++made;
      EXPECT_TRUE(connection->Wait()) << "a stale event";
      continue;
    }
    switch (rand.Below(8)) {
      case 0:
        static_cast<void>(connection->Wait());
        break;
      case 1:
      case 2:
        connection->Send(static_cast<char>(rand.Below(256)));
        break;
      case 3:
      case 4:
        connection->Receive(parker);
        break;
      case 5:
        connection->EndPeer(/*all=*/rand.Below(2) == 0);
        break;
      case 6:
        // Destroyed while its event is on the way.
        connection->Send('x');
        connection.reset();
        break;
      default:
        connection.reset();
    }
  }
  return made;
}

using ConnectionsStressTest = FdTest;

TEST_F(ConnectionsStressTest, ConnectionsOpenAndClose) {
  const absl::Duration run_time = StressTime(kUsualTime);
  // Thread i uses the seed `seed + i`.
  const uint64_t seed = StressSeed();
  const size_t most = ManyConnections();
  const size_t connections =
      run_time == kUsualTime ? std::min(kUsualConnections, most) : most;
  // One task for each thread. Destroyed after the driving thread, which may be
  // about to wake a task even though its waiter is destroyed.
  std::array<CountingWaker, kThreads> idle;
  Reactor reactor = Reactor::Create().value();
  std::thread driving([&reactor] {
    while (!reactor.handle().IsShutDown()) reactor.Park();
  });
  const absl::Time end = absl::Now() + run_time;
  Atomic<size_t> made{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Relaxed: read after the joins.
      made.fetch_add(
          RunShare(reactor, idle[i], connections / kThreads, end, seed + i),
          std::memory_order_relaxed);
    });
  }
  for (std::thread& thread : threads) thread.join();
  RecordProperty("connections",
                 static_cast<int>(made.load(std::memory_order_relaxed)));
  EXPECT_GT(made.load(std::memory_order_relaxed), 0u);
  EXPECT_TRUE(reactor.IsIdle());
  reactor.Shutdown();
  driving.join();
}

}  // namespace
}  // namespace rouse::reactor
