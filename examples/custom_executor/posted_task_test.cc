// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
#include "rouse/examples/custom_executor/posted_task.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/oneshot.h"

namespace example {
namespace {

// An executor that knows nothing of Rouse.
class Dispatcher {
 public:
  void post(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
    changed_.notify_one();
  }
  PostedTask::Post poster() {
    return [this](std::function<void()> f) { post(std::move(f)); };
  }
  // Runs functions on the calling thread until `done()` returns true.
  template <class Done>
  void RunUntil(Done done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !functions_.empty(); });
      const std::function<void()> next = std::move(functions_.front());
      functions_.pop_front();
      lock.unlock();
      next();
    }
  }
  size_t waiting() {
    const std::lock_guard lock(mutex_);
    return functions_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> functions_;
};

TEST(PostedTaskTest, RunsOnTheExecutor) {
  Dispatcher dispatcher;
  std::thread::id thread;
  auto main = [&thread]() -> rouse::Co<> {
    for (int i = 0; i < 10; ++i) co_await rouse::Yield();
    thread = std::this_thread::get_id();
  };
  const PostedTask task(dispatcher.poster(), main());
  EXPECT_FALSE(task.HasEnded());
  dispatcher.RunUntil([&] { return task.HasEnded(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_EQ(dispatcher.waiting(), 0u);
}

TEST(PostedTaskTest, TasksOfOneExecutorUseChannelsAndLocks) {
  Dispatcher dispatcher;
  auto [sender, receiver] = rouse::mpsc::Channel<int>(2);
  rouse::Mutex<int> sum(0);
  auto produce = [&sum](rouse::mpsc::Sender<int> numbers) -> rouse::Co<> {
    for (int i = 1; i <= 100; ++i) {
      EXPECT_TRUE((co_await numbers.Send(i)).ok());
      auto guard = co_await sum.Lock();
      *guard += i;
    }
  };
  int received = 0;
  auto consume =
      [&received](rouse::mpsc::Receiver<int> numbers) -> rouse::Co<> {
    while (std::optional<int> number = co_await numbers.Receive()) {
      received += *number;
    }
  };
  const PostedTask producer(dispatcher.poster(), produce(std::move(sender)));
  const PostedTask consumer(dispatcher.poster(), consume(std::move(receiver)));
  dispatcher.RunUntil([&] { return consumer.HasEnded(); });
  EXPECT_EQ(received, 5050);
}

TEST(PostedTaskTest, AnotherThreadWakesTheTask) {
  Dispatcher dispatcher;
  for (int i = 0; i < 100; ++i) {
    auto [sender, receiver] = rouse::oneshot::Channel<int>();
    int received = -1;
    auto main =
        [&received](rouse::oneshot::Receiver<int> number) -> rouse::Co<> {
      received = (co_await number).value_or(-1);
    };
    const PostedTask task(dispatcher.poster(), main(std::move(receiver)));
    std::thread other(
        [sender = std::move(sender), i]() mutable { sender.Send(i); });
    dispatcher.RunUntil([&] { return task.HasEnded(); });
    EXPECT_EQ(received, i);
    other.join();
  }
}

TEST(PostedTaskTest, DestroyingTheTaskCancelsTheFuture) {
  Dispatcher dispatcher;
  const auto alive = std::make_shared<int>();
  auto [sender, receiver] = rouse::oneshot::Channel<int>();
  auto main = [](std::shared_ptr<int>,
                 rouse::oneshot::Receiver<int> number) -> rouse::Co<> {
    (void)co_await number;
  };
  std::optional<PostedTask> task(std::in_place, dispatcher.poster(),
                                 main(alive, std::move(receiver)));
  // A posted function that comes too late does nothing.
  task.reset();
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_FALSE(sender.Send(1));
  dispatcher.RunUntil([&] { return dispatcher.waiting() == 0; });
}

}  // namespace
}  // namespace example
