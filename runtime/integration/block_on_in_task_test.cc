// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests calls that block the thread, in places where the thread must make
// progress and in places where it need not.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/future/yield.h"
#include "rouse/io/bridge/sync_io_bridge.h"
#include "rouse/io/memory/cursor.h"
#include "rouse/net/pipe.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/rw_lock.h"
#include "rouse/sync/semaphore.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/runtime_fixture.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Calls that would not even have to wait.
struct BlockingCallCase {
  std::string name;
  std::function<void()> call;
  std::string instead;
};

std::vector<BlockingCallCase> BlockingCalls() {
  return {
      {"BlockOn", [] { BlockOn(Ready()); }, "use co_await,"},
      {"mpsc::Sender::BlockingSend",
       [] {
         auto channel = mpsc::Channel<int>(1);
         (void)channel.first.BlockingSend(1);
       },
       "use co_await Send(),"},
      {"mpsc::Receiver::BlockingReceive",
       [] {
         auto channel = mpsc::Channel<int>(1);
         (void)channel.first.TrySend(1);
         (void)channel.second.BlockingReceive();
       },
       "use co_await Receive(),"},
      {"mpsc::Receiver::BlockingReceiveMany",
       [] {
         auto channel = mpsc::Channel<int>(1);
         (void)channel.first.TrySend(1);
         std::vector<int> out;
         (void)channel.second.BlockingReceiveMany(out, 1);
       },
       "use co_await ReceiveMany(),"},
      {"oneshot::Receiver::BlockingReceive",
       [] {
         auto channel = oneshot::Channel<int>();
         (void)std::move(channel.first).Send(1);
         (void)channel.second.BlockingReceive();
       },
       "use co_await,"},
      {"broadcast::Receiver::BlockingReceive",
       [] {
         auto channel = broadcast::Channel<int>(1);
         (void)channel.first.Send(1);
         (void)channel.second.BlockingReceive();
       },
       "use co_await Receive(),"},
      {"Mutex::BlockingLock",
       [] {
         Mutex<int> mutex;
         (void)mutex.BlockingLock();
       },
       "use co_await Lock(),"},
      {"Mutex::BlockingLockOwned",
       [] {
         (void)Mutex<int>::BlockingLockOwned(std::make_shared<Mutex<int>>());
       },
       "use co_await LockOwned(),"},
      {"RwLock::BlockingRead",
       [] {
         RwLock<int> lock;
         (void)lock.BlockingRead();
       },
       "use co_await Read(),"},
      {"RwLock::BlockingWrite",
       [] {
         RwLock<int> lock;
         (void)lock.BlockingWrite();
       },
       "use co_await Write(),"},
      {"Semaphore::BlockingAcquire",
       [] {
         Semaphore semaphore(1);
         (void)semaphore.BlockingAcquire();
       },
       "use co_await Acquire(),"},
      {"Semaphore::BlockingAcquireOwned",
       [] {
         (void)Semaphore::BlockingAcquireOwned(std::make_shared<Semaphore>(1));
       },
       "use co_await AcquireOwned(),"},
      {"SyncIoBridge::Read",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         char buffer[1];
         (void)bridge.Read(absl::MakeSpan(buffer));
       },
       "use co_await Read(),"},
      {"SyncIoBridge::ReadExact",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         char buffer[1];
         (void)bridge.ReadExact(absl::MakeSpan(buffer));
       },
       "use co_await ReadExact(),"},
      {"SyncIoBridge::ReadToEnd",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         std::string text;
         (void)bridge.ReadToEnd(text);
       },
       "use co_await ReadToEnd(),"},
      {"SyncIoBridge::ReadLine",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         std::string text;
         (void)bridge.ReadLine(text);
       },
       "use co_await ReadLine(),"},
      {"SyncIoBridge::Write",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         (void)bridge.Write("x");
       },
       "use co_await Write(),"},
      {"SyncIoBridge::WriteAll",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         (void)bridge.WriteAll("x");
       },
       "use co_await WriteAll(),"},
      {"SyncIoBridge::Flush",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         (void)bridge.Flush();
       },
       "use co_await Flush(),"},
      {"SyncIoBridge::Shutdown",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         (void)bridge.Shutdown();
       },
       "use co_await Shutdown(),"},
      {"SyncIoBridge::Seek",
       [] {
         SyncIoBridge bridge(Cursor(std::string("a\nb")));
         (void)bridge.Seek(0);
       },
       "use co_await Seek(),"},
  };
}

using BlockOnInTaskTest = EitherRuntimeTest;
INSTANTIATE_TEST_SUITE_P(Kinds, BlockOnInTaskTest, ::testing::Bool(),
                         &KindOfRuntime);

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_P(BlockOnInTaskTest, PanicsAndNamesTheAlternative) {
  Runtime runtime = MakeRuntime();
  for (const BlockingCallCase& blocking : BlockingCalls()) {
    auto body = [&blocking]() -> Co<> {
      blocking.call();
      co_return;
    };
    EXPECT_THAT(
        runtime.BlockOn(runtime.Spawn(body)),
        StatusIs(absl::StatusCode::kInternal,
                 AllOf(HasSubstr(blocking.name + " was called inside task"),
                       HasSubstr(blocking.instead))));
  }
}

TEST_P(BlockOnInTaskTest, PanicsInTheMainFuture) {
  Runtime runtime = MakeRuntime();
  auto body = []() -> Co<> {
    BlockOn(Ready());
    co_return;
  };
  EXPECT_PANIC(runtime.BlockOn(body()), "called inside Runtime::BlockOn");
}

// A thread can wait for itself even without a runtime.
TEST(BlockOnInLocalTaskTest, Panics) {
  LocalSet set;
  auto body = []() -> Co<> {
    BlockOn(Ready());
    co_return;
  };
  EXPECT_THAT(BlockOn(set.RunUntil(set.Spawn(body))),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("BlockOn was called inside task")));
}

#endif  // ABSL_HAVE_EXCEPTIONS

// The end of a runtime waits for blocking calls.
TEST_P(BlockOnInTaskTest, TheEndOfTheRuntimeEndsTheWaitOfABridge) {
  absl::Status status;
  absl::Notification has_begun;
  std::optional<PipeWriter> writer;  // without which the stream would end
  {
    Runtime runtime = MakeRuntime();
    auto make = []() -> Co<absl::StatusOr<std::pair<PipeReader, PipeWriter>>> {
      co_return MakePipe();
    };
    auto ends = runtime.BlockOn(make());
    ASSERT_THAT(ends, IsOk());
    writer.emplace(std::move(ends->second));
    auto read = [&, reader = std::move(ends->first)]() mutable {
      SyncIoBridge bridge(std::move(reader));
      char buffer[1];
      has_begun.Notify();
      status = bridge.Read(absl::MakeSpan(buffer)).status();
    };
    runtime.SpawnBlocking(std::move(read)).Detach();
    has_begun.WaitForNotification();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_P(BlockOnInTaskTest, IsAllowedInABlockingCallAndItsDestructor) {
  Runtime runtime = MakeRuntime();
  for (const BlockingCallCase& blocking : BlockingCalls()) {
    EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(blocking.call)), IsOk());
  }
  // The object is destroyed after the call has returned.
  std::shared_ptr<void> held(nullptr, [](void*) { BlockOn(Ready()); });
  auto holds = [held = std::exchange(held, nullptr)] { return 7; };
  EXPECT_THAT(runtime.BlockOn(runtime.SpawnBlocking(std::move(holds))),
              IsOkAndHolds(7));
}

TEST_P(BlockOnInTaskTest, IsAllowedInAnOutputDestroyedByAnotherThread) {
  Runtime runtime = MakeRuntime();
  bool has_blocked = false;
  auto body = [&has_blocked]() -> Co<std::shared_ptr<void>> {
    co_return std::shared_ptr<void>(nullptr, [&has_blocked](void*) {
      BlockOn(Ready());
      has_blocked = true;
    });
  };
  {
    const JoinHandle<std::shared_ptr<void>> handle = runtime.Spawn(body);
    while (!handle.IsFinished()) runtime.BlockOn(Yield());
  }
  EXPECT_TRUE(has_blocked);
}

TEST(BlockOnInPlaceTest, IsAllowedInsideATask) {
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(1).Build();
  ASSERT_THAT(runtime, IsOk());
  auto body = []() -> Co<int> {
    // The answer needs the task's own worker, which another thread runs.
    auto answer = []() -> Co<int> { co_return 42; };
    JoinHandle<int> other = Spawn(answer);
    for (const BlockingCallCase& blocking : BlockingCalls()) {
      BlockInPlace(blocking.call);
    }
    co_return BlockInPlace([&other] { return BlockOn(other).value_or(0); });
  };
  EXPECT_THAT(runtime->BlockOn(runtime->Spawn(body)), IsOkAndHolds(42));
}

// The call waits for no task, but for a sender that is about to finish.
TEST_P(BlockOnInTaskTest, TryReceiveDoesNotBlock) {
  Runtime runtime = MakeRuntime();
  auto body = []() -> Co<int> {
    auto channel = mpsc::Channel<int>(1);
    (void)channel.first.TrySend(3);
    co_return channel.second.TryReceive().value_or(0);
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOkAndHolds(3));
}

}  // namespace
}  // namespace rouse
