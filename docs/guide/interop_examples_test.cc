// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of interop.md, word for word (interop_quotes_test sees to that),
// and tests that run them.

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/interop/as_awaitable.h"
#include "rouse/interop/await.h"
#include "rouse/interop/execution/as_sender.h"
#include "rouse/interop/execution/from_sender.h"
#include "rouse/interop/execution/mini_library.h"
#include "rouse/interop/foreign_task.h"
#include "rouse/interop/from_callback.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"

namespace {

using ::absl_testing::IsOkAndHolds;

class LegacyStore {
 public:
  ~LegacyStore() {
    if (thread_.joinable()) thread_.join();
  }
  void Get(std::string key, std::function<void(std::string)> done) {
    thread_ = std::thread([key, done] { done("value of " + key); });
  }

 private:
  std::thread thread_;
};

// -----------------------------------------------------------------------------
// Callbacks

rouse::Co<absl::StatusOr<std::string>> Get(LegacyStore& store,
                                           std::string key) {
  auto get = rouse::interop::FromCallback<std::string>(
      [&](rouse::interop::Callback<std::string> done) {
        store.Get(key, [done](std::string value) { done(std::move(value)); });
      });
  co_return co_await std::move(get);
}

TEST(InteropExamples, Callbacks) {
  LegacyStore store;
  EXPECT_THAT(rouse::BlockOn(Get(store, "a")), IsOkAndHolds("value of a"));
}

// -----------------------------------------------------------------------------
// Coroutines of other libraries

foreign::Task Square(foreign::Executor& executor, int value) {
  co_await executor.Schedule();
  const int square = value * value;
  co_return square;
}

rouse::Co<int> Sum(foreign::Executor& executor) {
  int sum = 0;
  for (int i = 1; i <= 3; ++i) {
    // The foreign coroutine runs on its own executor, and this one does not.
    auto square = rouse::interop::Await(Square(executor, i));
    sum += co_await std::move(square);
  }
  co_return sum;
}

TEST(InteropExamples, Await) {
  foreign::Executor executor;
  EXPECT_EQ(rouse::BlockOn(Sum(executor)), 14);
}

rouse::Co<int> TwiceInRouse(int value) { co_return 2 * value; }

foreign::Task Twice(rouse::Handle runtime, foreign::Executor& executor,
                    int value) {
  auto twice = rouse::interop::AsAwaitable(
      runtime, TwiceInRouse(value),
      [&executor](absl::AnyInvocable<void()> resume) {
        executor.Post(std::move(resume));
      });
  co_return co_await twice;
}

foreign::Task Check(rouse::Handle runtime, foreign::Executor& executor,
                    std::optional<int>& result, absl::Notification& done) {
  result = co_await Twice(runtime, executor, 21);
  done.Notify();
  co_return 0;
}

TEST(InteropExamples, AsAwaitable) {
  rouse::Runtime runtime =
      rouse::Builder::MultiThread().WorkerThreads(1).Build().value();
  std::optional<int> result;
  absl::Notification done;
  std::optional<foreign::Task> check;
  {
    foreign::Executor executor;
    check.emplace(Check(runtime.handle(), executor, result, done));
    executor.Post([&check] { check->Start(); });
    done.WaitForNotification();
  }
  EXPECT_EQ(result, 42);
}

// -----------------------------------------------------------------------------
// Senders and receivers

// A sender of an int that an executor computes.
class ComputeSender {
 public:
  using sender_concept = mini::sender_tag;

  ComputeSender(foreign::Executor& executor, std::function<int()> compute)
      : executor_(&executor), compute_(std::move(compute)) {}

  template <class Self, class... Env>
  static consteval mini::completion_signatures<mini::set_value_t(int)>
  get_completion_signatures() {
    return {};
  }

  template <class R>
  struct Operation {
    using operation_state_concept = mini::operation_state_tag;
    Operation(foreign::Executor* e, std::function<int()> c, R r)
        : executor(e), compute(std::move(c)), receiver(std::move(r)) {}
    Operation(Operation&&) = delete;
    void start() & noexcept {
      executor->Post(
          [this] { mini::set_value_t()(std::move(receiver), compute()); });
    }
    foreign::Executor* executor;
    std::function<int()> compute;
    R receiver;
  };
  template <class R>
  Operation<R> connect(R receiver) && {
    return {executor_, std::move(compute_), std::move(receiver)};
  }

 private:
  foreign::Executor* executor_;
  std::function<int()> compute_;
};

rouse::Co<int> DoubleOn(foreign::Executor& executor, int value) {
  auto doubled = rouse::interop::FromSender<mini::Library>(
      ComputeSender(executor, [value] { return 2 * value; }));
  co_return co_await std::move(doubled);
}

TEST(InteropExamples, FromSender) {
  foreign::Executor executor;
  EXPECT_EQ(rouse::BlockOn(DoubleOn(executor, 21)), 42);
}

auto TwiceAsSender(const rouse::Handle& runtime, int value) {
  return rouse::interop::AsSender<mini::Library>(runtime, TwiceInRouse(value));
}

// The round trip: the sender is awaited as a future again.
TEST(InteropExamples, AsSender) {
  const rouse::Runtime runtime =
      rouse::Builder::MultiThread().WorkerThreads(1).Build().value();
  auto twice = rouse::interop::FromSender<mini::Library>(
      TwiceAsSender(runtime.handle(), 21));
  EXPECT_THAT(rouse::BlockOn(std::move(twice)), IsOkAndHolds(42));
}

}  // namespace
