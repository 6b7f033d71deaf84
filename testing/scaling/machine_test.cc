// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/machine.h"

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/scaling/atomic.h"
#include "rouse/testing/scaling/costs.h"
#include "rouse/testing/scaling/futex.h"
#include "rouse/testing/scaling/kernel.h"
#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/mutex.h"
#include "rouse/testing/scaling/thread.h"
#include "rouse/testing/scaling/thread_local.h"

namespace rouse::scaling {
namespace {

using testing::ElementsAre;

TEST(MachineTest, AccessesHappenInTheOrderOfVirtualTime) {
  Machine machine;
  std::vector<int> order;
  machine.Run([&] {
    alignas(64) Atomic<int> lines[3];
    const auto access_at = [&](int i, double time) {
      Spend(time);
      lines[i].store(1);
      order.push_back(i);
    };
    Thread late([&] { access_at(0, 3000); });
    Thread early([&] { access_at(1, 1000); });
    access_at(2, 2000);
  });
  EXPECT_THAT(order, ElementsAre(1, 2, 0));
}

TEST(MachineTest, ThreadsComputeAtTheSameTime) {
  Machine machine;
  double took = 0;
  machine.Run([&] {
    const double begin = machine.now();
    {
      Thread one([] { Spend(1000); });
      Thread other([] { Spend(1000); });
    }
    took = machine.now() - begin;
  });
  EXPECT_GE(took, 1000);
  EXPECT_LT(took, 1500);
}

TEST(MachineTest, ASharedCounterIsSlowerThanTwoCounters) {
  const auto run = [](bool shared) {
    struct alignas(64) Counter {
      Atomic<int> count{0};
    };
    Machine machine;
    double took = 0;
    machine.Run([&] {
      Counter counters[2];
      const auto count = [](Counter& counter) {
        for (int i = 0; i < 100; ++i) counter.count.fetch_add(1);
      };
      const double begin = machine.now();
      {
        Thread other([&] { count(counters[shared ? 0 : 1]); });
        count(counters[0]);
      }
      took = machine.now() - begin;
      EXPECT_EQ(counters[0].count.load(), shared ? 200 : 100);
    });
    return took;
  };
  EXPECT_GT(run(true), 3 * run(false));
}

TEST(MachineTest, AFutexSleepsUntilAWake) {
  Machine machine;
  machine.Run([&] {
    Atomic<uint32_t> word{0};
    double woken_at = 0;
    Thread sleeper([&] {
      FutexWait(word, 0);
      woken_at = machine.now();
    });
    Spend(50'000);
    word.store(1);
    FutexWakeOne(word);
    const double woke_at = machine.now();
    sleeper.Join();
    EXPECT_GE(woken_at, woke_at + machine.costs().wake_delay);
  });
}

TEST(MachineTest, AFutexSleepsNoLongerThanItsLimit) {
  Machine machine;
  machine.Run([&] {
    Atomic<uint32_t> word{0};
    const double begin = machine.now();
    FutexWait(word, 0, absl::Microseconds(7));
    EXPECT_GE(machine.now(), begin + 7000);
    EXPECT_LT(machine.now(), begin + 10'000);
    // The word has another value.
    FutexWait(word, 1);
  });
}

TEST(MachineTest, AMutexIsForOneThreadAtATime) {
  Machine machine;
  machine.Run([&] {
    Mutex mu;
    bool inside = false;
    const auto work = [&] {
      for (int i = 0; i < 20; ++i) {
        const MutexLock lock(&mu);
        EXPECT_FALSE(inside);
        inside = true;
        Spend(500);
        machine.Do(Access::kLoad, &inside, Site::current());
        inside = false;
      }
    };
    Thread other(work);
    work();
  });
}

TEST(MachineTest, EachThreadHasItsThreadLocalObjects) {
  Machine machine;
  machine.Run([] {
    using Number = ThreadLocal<int, struct NumberTag>;
    Number::Get() = 1;
    Thread([] { EXPECT_EQ(Number::Get(), 0); }).Join();
    EXPECT_EQ(Number::Get(), 1);
  });
}

TEST(MachineTest, CallsBackAtATime) {
  Machine machine;
  machine.Run([&] {
    Atomic<uint32_t> word{0};
    const double begin = machine.now();
    machine.CallAt(begin + 9000, [&] {
      EXPECT_TRUE(machine.FutexWakeAt(&word, begin + 9000));
    });
    FutexWait(word, 0);
    EXPECT_GE(machine.now(), begin + 9000);
  });
}

TEST(MachineTest, ReportsReadableSockets) {
  Machine machine;
  machine.Run([&] {
    constexpr int kEpoll = 3;
    const auto [one, other] = ConnectedPair();
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = 77;
    ASSERT_EQ(EpollControl(kEpoll, EPOLL_CTL_ADD, one, &event), 0);
    char buffer[16];
    EXPECT_EQ(Read(one, buffer, sizeof buffer), -1);
    EXPECT_EQ(errno, EAGAIN);
    Thread writer([other = other] {
      Spend(5000);
      EXPECT_EQ(Write(other, "hello", 5), 5);
    });
    epoll_event events[4];
    ASSERT_EQ(EpollWait(kEpoll, events, 4, absl::InfiniteDuration()), 1);
    EXPECT_EQ(events[0].data.u64, 77u);
    EXPECT_EQ(events[0].events, uint32_t{EPOLLIN});
    EXPECT_EQ(Read(one, buffer, 3), 3);
    EXPECT_EQ(Read(one, buffer, 3), 2);
    // An edge is reported once.
    EXPECT_EQ(EpollWait(kEpoll, events, 4, absl::ZeroDuration()), 0);
    ASSERT_EQ(EpollControl(kEpoll, EPOLL_CTL_DEL, one, nullptr), 0);
    EXPECT_EQ(Write(other, "bye", 3), 3);
    EXPECT_EQ(EpollWait(kEpoll, events, 4, absl::Microseconds(1)), 0);
  });
}

TEST(MachineDeathTest, DiesIfNoThreadCanContinue) {
  EXPECT_DEATH(
      {
        Machine machine;
        machine.Run([] {
          Atomic<uint32_t> word{0};
          FutexWait(word, 0);
        });
      },
      "no core can ever continue");
}

}  // namespace
}  // namespace rouse::scaling
