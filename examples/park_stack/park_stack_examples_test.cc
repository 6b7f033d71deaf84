// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the examples of docs/internals/park_stack.md. park_stack_quotes_test
// compares that page with this file.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"
#include "rouse/net/pipe.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/park.h"
#include "rouse/waker/thread_parker.h"

namespace {

using rouse::ThreadParker;
using rouse::reactor::Reactor;
using rouse::scheduler::DriverRef;
using rouse::scheduler::Scheduler;

// Sockets and timers.
using Stack = rouse::wheel::Driver<Reactor>;

// Runs `main`, and all tasks that it spawns, on this thread until `main` ends.
template <class Main>
absl::StatusOr<int> RunMain(Stack& stack, Main main) {
  auto driver = std::make_unique<DriverRef<Stack>>(stack);
  Scheduler* scheduler = new Scheduler(std::move(driver));
  absl::StatusOr<int> result;
  {
    const rouse::scheduler::ScopedDefault tasks(*scheduler);
    const rouse::wheel::ScopedDefault timer(stack.handle());
    const rouse::reactor::ScopedDefault reactor(stack.park().handle());
    rouse::JoinHandle<int> handle = rouse::Spawn(std::move(main));
    scheduler->worker(0).RunUntil([&] { return handle.IsFinished(); });
    result = rouse::BlockOn(std::move(handle));
    scheduler->Close();
    scheduler->CancelAll();
  }
  stack.Shutdown();
  scheduler->Unref();
  return result;
}

rouse::Co<absl::Status> Say(rouse::PipeWriter writer, std::string text) {
  co_await rouse::Sleep(absl::Milliseconds(1));
  co_return co_await rouse::WriteAll(writer, text);
}

// Needs tasks, timers and I/O.
rouse::Co<absl::StatusOr<std::string>> Listen() {
  auto pipe = rouse::MakePipe();
  if (!pipe.ok()) co_return pipe.status();
  rouse::PipeReader reader = std::move(pipe->first);
  rouse::Spawn(Say(std::move(pipe->second), "hello")).Detach();
  std::string heard(5, '\0');
  co_await rouse::OrReturn(rouse::ReadExact(reader, absl::MakeSpan(heard)));
  co_return heard;
}

rouse::Co<int> CountHeard() {
  const absl::StatusOr<std::string> heard = co_await Listen();
  co_return heard.ok() ? static_cast<int>(heard->size()) : -1;
}

TEST(ParkStack, AReactorAndAWheelRunTasks) {
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  ASSERT_TRUE(reactor.ok()) << reactor.status();
  Stack stack(rouse::wheel::Options(), *std::move(reactor));
  EXPECT_EQ(RunMain(stack, CountHeard()).value(), 5);
}

// Sets a flag in the destructor, to show that a task was cancelled.
class SetOnExit {
 public:
  explicit SetOnExit(bool* flag) : flag_(flag) {}
  SetOnExit(const SetOnExit&) = delete;
  SetOnExit& operator=(const SetOnExit&) = delete;
  ~SetOnExit() { *flag_ = true; }

 private:
  bool* flag_;
};

TEST(ParkStack, CancelsTasksThatMainLeavesBehind) {
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  ASSERT_TRUE(reactor.ok()) << reactor.status();
  Stack stack(rouse::wheel::Options(), *std::move(reactor));
  bool destroyed = false;
  const auto forever = [](bool* destroyed) -> rouse::Co<> {
    const SetOnExit on_exit(destroyed);
    co_await rouse::Sleep(absl::Hours(1));
  };
  const auto main = [&]() -> rouse::Co<int> {
    rouse::Spawn(forever(&destroyed)).Detach();
    co_await rouse::Sleep(absl::Milliseconds(1));
    co_return 1;
  };
  EXPECT_EQ(RunMain(stack, main).value(), 1);
  EXPECT_TRUE(destroyed);
}

// A user's own driver between two others. Counts how often the thread slept.
template <rouse::Park Below>
class CountSleeps {
 public:
  using Unparker = typename Below::Unparker;

  explicit CountSleeps(std::atomic<int>* sleeps) : sleeps_(sleeps) {}

  void Park() {
    ++*sleeps_;
    below_.Park();
  }
  void ParkFor(absl::Duration limit) {
    if (limit > absl::ZeroDuration()) ++*sleeps_;
    below_.ParkFor(limit);
  }
  Unparker unparker() { return below_.unparker(); }
  void Shutdown() { below_.Shutdown(); }

 private:
  std::atomic<int>* sleeps_;
  Below below_;
};

TEST(ParkStack, TakesACustomDriver) {
  std::atomic<int> sleeps = 0;
  rouse::wheel::Driver<CountSleeps<ThreadParker>> driver(
      rouse::wheel::Options(), &sleeps);
  const rouse::wheel::ScopedDefault timer(driver.handle());
  auto any = std::make_unique<DriverRef<decltype(driver)>>(driver);
  Scheduler* scheduler = new Scheduler(std::move(any));
  const auto nap = [&sleeps]() -> rouse::Co<> {
    // A sleep may end before the worker parks.
    while (sleeps == 0) co_await rouse::Sleep(absl::Milliseconds(2));
  };
  rouse::JoinHandle<void> handle = scheduler->Spawn(nap);
  scheduler->worker(0).RunUntil([&] { return handle.IsFinished(); });
  scheduler->Close();
  scheduler->CancelAll();
  driver.Shutdown();
  scheduler->Unref();
}

// Runs a thread for each worker. The threads share the driver.
template <class Driver>
void RunOnThreads(Scheduler& scheduler, Driver& driver, rouse::Co<> main) {
  rouse::JoinHandle<void> handle = scheduler.Spawn(std::move(main));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < scheduler.worker_count(); ++i) {
    threads.emplace_back([&scheduler, &driver, i] {
      const rouse::scheduler::ScopedDefault tasks(scheduler);
      const rouse::wheel::ScopedDefault timer(driver.handle());
      scheduler.worker(i).Run();
    });
  }
  static_cast<void>(rouse::BlockOn(std::move(handle)));
  scheduler.Close();
  for (std::thread& thread : threads) thread.join();
  scheduler.CancelAll();
}

rouse::Co<> NapTogether(std::atomic<int>* woken) {
  std::vector<rouse::JoinHandle<void>> naps;
  for (int i = 0; i < 8; ++i) {
    const auto nap = [](std::atomic<int>* woken) -> rouse::Co<> {
      co_await rouse::Sleep(absl::Milliseconds(1));
      ++*woken;
    };
    naps.push_back(rouse::Spawn(nap(woken)));
  }
  for (rouse::JoinHandle<void>& nap : naps) {
    static_cast<void>(co_await nap);
  }
}

TEST(ParkStack, IsSharedByThreads) {
  std::atomic<int> woken = 0;
  rouse::wheel::Driver<ThreadParker> driver;
  auto any = std::make_unique<DriverRef<decltype(driver)>>(driver);
  Scheduler* scheduler = new Scheduler(std::move(any), {.workers = 3});
  RunOnThreads(*scheduler, driver, NapTogether(&woken));
  EXPECT_EQ(woken.load(), 8);
  EXPECT_EQ(scheduler->alive_tasks(), 0u);
  driver.Shutdown();
  scheduler->Unref();
}

// The clock stands still, and jumps to the next deadline when all workers wait.
TEST(ParkStack, FollowsACustomClock) {
  rouse::wheel::Options options;
  options.clock = std::make_shared<rouse::Clock>();
  options.clock->Pause();
  options.clock->SetAutoAdvance(true);
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  ASSERT_TRUE(reactor.ok()) << reactor.status();
  Stack stack(options, *std::move(reactor));
  const auto day = []() -> rouse::Co<int> {
    co_await rouse::Sleep(absl::Hours(24));
    co_return 1;
  };
  EXPECT_EQ(RunMain(stack, day).value(), 1);
}

}  // namespace
