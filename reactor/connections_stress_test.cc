// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thousands of connections that come and go at random, on threads that
// deregister them while their events arrive. What must hold: every event that
// somebody waits for comes, none reaches a stranger, nothing is left open, and
// nothing is touched that has gone (the sanitizers look).
//
// See stress_time.h for how long it takes, and stress_seed.h for what is
// random. If the time is said there are ten thousand connections, or as many as
// there may be descriptors for.

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
#include "rouse/reactor/test_util.h"
#include "rouse/testing/stress_seed.h"
#include "rouse/testing/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::reactor {
namespace {

constexpr size_t kThreads = 16;

constexpr absl::Duration kUsualTime = absl::Milliseconds(300);
constexpr size_t kUsualConnections = 1000;

// Raises the limit of descriptors as far as it goes.
size_t ManyConnections() {
  rlimit limit;
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const size_t pairs = static_cast<size_t>(limit.rlim_max) / 2 - 100;
  return std::min<size_t>(10000, pairs);
}

// A connection, of which this end is registered. It remembers what has been
// sent and not yet received, and may have somebody who waits.
class Connection {
 public:
  Connection(const Reactor& reactor, TestTask& idle) : idle_(idle) {
    std::tie(fd_, peer_) = MakeSocketPair();
    registration_.emplace(
        Registration::Create(fd_.get(), Interest::kReadable, reactor.handle())
            .value());
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  // Somebody waits, and may never be told. Returns whether there is a reason
  // to.
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

  // Blocks until what is to come has come.
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
  TestTask& idle_;
  OwnedFd fd_, peer_;
  // Goes before the descriptors do, and the waiter before it.
  std::optional<Registration> registration_;
  Waiter waiter_;
  size_t pending_ = 0;
  char byte_ = 0;
  bool ended_ = false;
};

// One thread's share of the connections, until `end`, and one at least. Returns
// how many it has had.
size_t RunShare(const Reactor& reactor, TestTask& idle, size_t share,
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
        // Goes while its event is under way.
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

TEST_F(ConnectionsStressTest, TheyComeAndGo) {
  const absl::Duration run_time = StressTime(kUsualTime);
  // Thread i has `seed + i`.
  const uint64_t seed = StressSeed();
  const size_t most = ManyConnections();
  const size_t connections =
      run_time == kUsualTime ? std::min(kUsualConnections, most) : most;
  // One for each thread. They go after the thread that drives, which may be
  // about to wake one though its waiter has gone.
  std::array<TestTask, kThreads> idle;
  Reactor reactor = Reactor::Create().value();
  std::thread driving([&reactor] {
    while (!reactor.handle().IsShutDown()) reactor.Park();
  });
  const absl::Time end = absl::Now() + run_time;
  Atomic<size_t> made{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Nothing to order: read after the joins.
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
