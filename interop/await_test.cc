// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/await.h"

#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/foreign_task.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop {
namespace {

static_assert(ForeignAwaitable<foreign::Task>);
static_assert(ForeignAwaitable<foreign::Event>);
static_assert(ForeignAwaitable<std::suspend_always>);
static_assert(!ForeignAwaitable<int>);
static_assert(Future<AwaitFuture<foreign::Task>>);

foreign::Task Answer(int value) { co_return value; }

foreign::Task AnswerOn(foreign::Executor& executor, int value) {
  co_await executor.Schedule();
  EXPECT_EQ(std::this_thread::get_id(), executor.thread_id());
  co_return value;
}

TEST(Await, GivesTheOutputOfAnAwaitableThatIsReadyAtOnce) {
  EXPECT_EQ(BlockOn(Await(Answer(7))), 7);
  EXPECT_EQ(BlockOn([]() -> Co<int> {
              std::suspend_never ready;
              auto await = Await(ready);
              co_await std::move(await);
              co_return 1;
            }()),
            1);
}

// The awaiting task continues where it was.
TEST(Await, ContinuesOnTheThreadOfTheTask) {
  foreign::Executor executor;
  const std::thread::id here = std::this_thread::get_id();
  const auto run = [&]() -> Co<int> {
    auto first = Await(AnswerOn(executor, 3));
    const int a = co_await std::move(first);
    EXPECT_EQ(std::this_thread::get_id(), here);
    auto second = Await(AnswerOn(executor, 4));
    const int b = co_await std::move(second);
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_return a* b;
  };
  EXPECT_EQ(BlockOn(run()), 12);
}

TEST(Await, BeginsAtTheFirstPollAndGivesAReference) {
  std::coroutine_handle<> awaiting;
  int value = 5;
  CountingWaker task;
  auto await = Await(foreign::Event(&awaiting, &value));
  EXPECT_FALSE(awaiting);
  EXPECT_TRUE(task.Poll(await).IsPending());
  ASSERT_TRUE(awaiting);
  EXPECT_TRUE(task.Poll(await).IsPending());
  awaiting.resume();
  const PollResult<int&> result = task.Poll(await);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(&*result, &value);
}

// The library still has the coroutine, and resumes it later.
TEST(Await, DestroyingTheFutureLeavesTheAwaitableToItsLibrary) {
  std::coroutine_handle<> awaiting;
  int value = 5;
  CountingWaker task;
  {
    auto await = Await(foreign::Event(&awaiting, &value));
    EXPECT_TRUE(task.Poll(await).IsPending());
  }
  awaiting.resume();
}

TEST(Await, AnAwaitableThatWasNeverPolledIsDestroyed) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> weak = owned;
  {
    const auto make = [](std::shared_ptr<int> value) -> foreign::Task {
      co_return *value;
    };
    const auto await = Await(make(std::move(owned)));
    EXPECT_FALSE(weak.expired());
  }
  EXPECT_TRUE(weak.expired());
}

// The task may own what the awaitable refers to.
TEST(Await, TheAwaitableIsDestroyedBeforeTheTaskContinues) {
  struct Slow : foreign::Event {
    using Event::Event;
    Slow(Slow&& other) noexcept
        : Event(std::move(other)), alive(std::exchange(other.alive, nullptr)) {}
    ~Slow() {
      if (alive != nullptr) *alive = false;
    }
    bool* alive = nullptr;
  };
  std::coroutine_handle<> awaiting;
  int value = 5;
  bool alive = true;
  CountingWaker task;
  Slow slow(&awaiting, &value);
  slow.alive = &alive;
  auto await = Await(std::move(slow));
  EXPECT_TRUE(task.Poll(await).IsPending());
  EXPECT_TRUE(alive);
  awaiting.resume();
  EXPECT_FALSE(alive);
  EXPECT_TRUE(task.Poll(await).IsReady());
}

#ifdef ABSL_HAVE_EXCEPTIONS
foreign::Task Throw() {
  throw std::runtime_error("foreign");
  co_return 0;
}

TEST(Await, AnExceptionPropagates) {
  EXPECT_THROW(BlockOn(Await(Throw())), std::runtime_error);
}

// Otherwise the task would wait for ever.
TEST(Await, ALibraryThatDestroysTheCoroutineIsAPanic) {
  std::coroutine_handle<> awaiting;
  int value = 5;
  CountingWaker task;
  auto await = Await(foreign::Event(&awaiting, &value));
  EXPECT_TRUE(task.Poll(await).IsPending());
  awaiting.destroy();
  EXPECT_PANIC((void)task.Poll(await), "has destroyed the coroutine");
}
#endif

}  // namespace
}  // namespace rouse::interop
