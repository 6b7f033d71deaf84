// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that memory returns to the system after tasks no longer need it.

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/frame_pool.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/sync/notify.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;

constexpr size_t kTasks = 500'000;
constexpr size_t kMargin = size_t{16} << 20;

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || \
    defined(ABSL_HAVE_THREAD_SANITIZER) || defined(ABSL_HAVE_MEMORY_SANITIZER)
constexpr bool kIsSanitized = true;  // sanitizers have memory of their own
#else
constexpr bool kIsSanitized = false;
#endif

// Returns the bytes of this process that are in memory.
size_t Resident() {
  std::ifstream file("/proc/self/statm");
  size_t size = 0;
  size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Tasks that all exist at once, and then all end.
class Crowd {
 public:
  explicit Crowd(size_t tasks) : tasks_(tasks) {}

  // A task that stays until `LetGo()`.
  Co<> Member() {
    auto let_go = let_go_.Notified();
    if (come_.fetch_add(1) + 1 == tasks_) all_have_come_.NotifyOne();
    co_await std::move(let_go);
    if (left_.fetch_add(1) + 1 == tasks_) all_have_left_.NotifyOne();
  }

  Co<> SpawnAll() {
    for (size_t i = 0; i < tasks_; ++i) Spawn(Member()).Detach();
    co_await all_have_come_.Notified();
  }

  void LetGo() { let_go_.NotifyWaiters(); }
  Co<> AwaitEnd() {
    LetGo();
    co_await all_have_left_.Notified();
  }

  bool AllHaveCome() const { return come_.load() == tasks_; }
  bool AllHaveLeft() const { return left_.load() == tasks_; }

 private:
  const size_t tasks_;
  std::atomic<size_t> come_{0};
  std::atomic<size_t> left_{0};
  Notify let_go_;
  Notify all_have_come_;
  Notify all_have_left_;
};

enum class Flavor { kCurrentThread, kMultiThread, kInOtherLoop };

// Is the loop of another library. Ends when the task has ended and no other
// task is ready.
void RunInOtherLoop(Runtime& runtime, Co<> task) {
  bool has_ended = false;
  auto run = [](Co<> task, bool& has_ended) -> Co<> {
    co_await std::move(task);
    has_ended = true;
  };
  runtime.Spawn(run(std::move(task), has_ended)).Detach();
  for (;;) {
    const absl::Duration wait = runtime.Turn();
    if (wait == absl::ZeroDuration()) continue;
    if (has_ended) return;
    pollfd fds = {runtime.fd(), POLLIN, 0};
    poll(&fds, 1, 1000);
  }
}

class MemoryReturnTest : public testing::TestWithParam<Flavor> {
 protected:
  static Runtime MakeRuntime() {
    absl::StatusOr<Runtime> runtime =
        GetParam() == Flavor::kMultiThread
            ? Builder::MultiThread().WorkerThreads(2).Build()
            : Builder::CurrentThread().Build();
    EXPECT_THAT(runtime, IsOk());
    return *std::move(runtime);
  }

  static void Run(Runtime& runtime, Co<> task) {
    if (GetParam() == Flavor::kInOtherLoop) {
      return RunInOtherLoop(runtime, std::move(task));
    }
    runtime.BlockOn(std::move(task));
  }

  void SetUp() override {
    if (kIsSanitized || !FramePool::kIsPooled) {
      GTEST_SKIP() << "the allocator keeps memory for reasons of its own";
    }
    // A first round allocates everything that stays allocated permanently.
    Crowd crowd(1000);
    Runtime runtime = MakeRuntime();
    Run(runtime, crowd.SpawnAll());
    Run(runtime, crowd.AwaitEnd());
  }

  // No call triggers the return. The promise is one second, but the machine may
  // be busy.
  static void ExpectShrinksTo(size_t before) {
    const size_t bound = before + kMargin;
    const absl::Time begin = absl::Now();
    size_t resident;
    while ((resident = Resident()) > bound &&
           absl::Now() - begin < absl::Seconds(10)) {
      std::this_thread::yield();
    }
    EXPECT_LE(resident, bound)
        << "before: " << before << ", the pool: " << FramePool::BytesHeld();
    RecordProperty("after", std::to_string(resident));
    RecordProperty("shrank_within_ms",
                   static_cast<int>(ToInt64Milliseconds(absl::Now() - begin)));
  }
};

TEST_P(MemoryReturnTest, AnIdleRuntimeReturnsTheMemoryOfTasks) {
  Runtime runtime = MakeRuntime();
  const size_t before = Resident();
  Crowd crowd(kTasks);
  Run(runtime, crowd.SpawnAll());
  const size_t peak = Resident();
  EXPECT_GT(peak, before + (size_t{64} << 20));
  Run(runtime, crowd.AwaitEnd());
  RecordProperty("before", std::to_string(before));
  RecordProperty("peak", std::to_string(peak));
  ExpectShrinksTo(before);
}

TEST_P(MemoryReturnTest, ADestroyedRuntimeReturnsTheMemoryOfTasks) {
  const size_t before = Resident();
  {
    Runtime runtime = MakeRuntime();
    Crowd crowd(kTasks);
    Run(runtime, crowd.SpawnAll());
    EXPECT_GT(Resident(), before + (size_t{64} << 20));
    Run(runtime, crowd.AwaitEnd());
  }
  ExpectShrinksTo(before);
}

TEST_P(MemoryReturnTest, TheMemoryOfCancelledTasksIsReturned) {
  const size_t before = Resident();
  {
    Crowd crowd(kTasks);
    Runtime runtime = MakeRuntime();
    Run(runtime, crowd.SpawnAll());
  }
  ExpectShrinksTo(before);
}

// The thread is not in a `BlockOn()`, neither now nor later.
TEST_P(MemoryReturnTest, TheMemoryOfTasksFromOutsideIsReturned) {
  if (GetParam() != Flavor::kMultiThread) {
    GTEST_SKIP() << "nobody would run the tasks";
  }
  Runtime runtime = MakeRuntime();
  const size_t before = Resident();
  Crowd crowd(kTasks);
  for (size_t i = 0; i < kTasks; ++i) runtime.Spawn(crowd.Member()).Detach();
  while (!crowd.AllHaveCome()) std::this_thread::yield();
  EXPECT_GT(Resident(), before + (size_t{64} << 20));
  crowd.LetGo();
  while (!crowd.AllHaveLeft()) std::this_thread::yield();
  ExpectShrinksTo(before);
}

INSTANTIATE_TEST_SUITE_P(Runtimes, MemoryReturnTest,
                         testing::Values(Flavor::kCurrentThread,
                                         Flavor::kMultiThread,
                                         Flavor::kInOtherLoop),
                         [](const testing::TestParamInfo<Flavor>& info) {
                           switch (info.param) {
                             case Flavor::kCurrentThread:
                               return "CurrentThread";
                             case Flavor::kMultiThread:
                               return "MultiThread";
                             case Flavor::kInOtherLoop:
                               return "InOtherLoop";
                           }
                           return "";
                         });

}  // namespace
}  // namespace rouse
