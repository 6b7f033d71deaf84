// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/as_awaitable.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/interop/foreign_task.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/timer/sleep.h"

namespace rouse::interop {
namespace {

// Posts to an executor.
struct PostTo {
  void operator()(absl::AnyInvocable<void()> resume) const {
    executor->Post(std::move(resume));
  }
  foreign::Executor* executor;
};

class AsAwaitableTest : public ::testing::Test {
 protected:
  // Runs a coroutine on the executor, and returns its value.
  std::optional<int> Run(foreign::Task task) {
    absl::Notification started;
    executor_.Post([&] {
      task.Start();
      started.Notify();
    });
    started.WaitForNotification();
    for (;;) {
      std::optional<int> value;
      absl::Notification asked;
      bool ended = false;
      executor_.Post([&] {
        value = task.value();
        ended = value.has_value() || task.exception() != nullptr;
        asked.Notify();
      });
      asked.WaitForNotification();
      if (ended) return value;
      std::this_thread::yield();
    }
  }

  Runtime runtime_ = Builder::MultiThread().WorkerThreads(1).Build().value();
  const Handle handle_ = runtime_.handle();
  foreign::Executor executor_;
};

Co<int> Double(int value) {
  co_await Sleep(absl::Milliseconds(1));
  co_return 2 * value;
}

TEST_F(AsAwaitableTest, ResumesTheCoroutineOnItsExecutor) {
  const auto run = [this]() -> foreign::Task {
    auto first = AsAwaitable(handle_, Double(3), PostTo{&executor_});
    const int a = co_await first;
    EXPECT_EQ(std::this_thread::get_id(), executor_.thread_id());
    auto second = AsAwaitable(handle_, Double(a), PostTo{&executor_});
    co_return co_await second;
  };
  EXPECT_EQ(Run(run()), 12);
}

TEST_F(AsAwaitableTest, AFutureThatIsReadyAtOnceIsNoSpecialCase) {
  const auto run = [this]() -> foreign::Task {
    int sum = 0;
    for (int i = 0; i < 100; ++i) {
      auto one = AsAwaitable(handle_, Ready(1), PostTo{&executor_});
      sum += co_await one;
    }
    co_return sum;
  };
  EXPECT_EQ(Run(run()), 100);
}

// Notifies when it is destroyed.
class Guard {
 public:
  explicit Guard(absl::Notification* gone) : gone_(gone) {}
  Guard(Guard&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard() {
    if (gone_ != nullptr) gone_->Notify();
  }

 private:
  absl::Notification* gone_;
};

// `guard` is destroyed with the coroutine.
Co<int> SleepForEver([[maybe_unused]] Guard guard) {
  co_await Sleep(absl::InfiniteDuration());
  co_return 0;
}

TEST_F(AsAwaitableTest, DestroyingTheCoroutineAbortsTheFuture) {
  absl::Notification gone;
  const auto run = [&]() -> foreign::Task {
    auto wait =
        AsAwaitable(handle_, SleepForEver(Guard(&gone)), PostTo{&executor_});
    co_return co_await wait;
  };
  auto task = std::make_unique<foreign::Task>(run());
  executor_.Post([&] { task->Start(); });
  executor_.Post([&] { task.reset(); });
  gone.WaitForNotification();
}

#ifdef ABSL_HAVE_EXCEPTIONS
Co<int> Throw() {
  throw std::runtime_error("rouse");
  co_return 0;
}

TEST_F(AsAwaitableTest, AnExceptionPropagates) {
  const auto run = [this]() -> foreign::Task {
    auto failing = AsAwaitable(handle_, Throw(), PostTo{&executor_});
    try {
      co_await failing;
    } catch (const std::runtime_error&) {
      co_return 1;
    }
    co_return 0;
  };
  EXPECT_EQ(Run(run()), 1);
}

// Otherwise the coroutine would wait for ever.
TEST_F(AsAwaitableTest, TheEndOfTheRuntimeIsAPanicOfTheAwait) {
  absl::Notification waits;
  const auto run = [&]() -> foreign::Task {
    absl::Notification gone;
    auto wait =
        AsAwaitable(handle_, SleepForEver(Guard(&gone)), PostTo{&executor_});
    try {
      co_await wait;
    } catch (...) {
      co_return 1;
    }
    co_return 0;
  };
  std::thread shutdown([&] {
    waits.WaitForNotification();
    std::move(runtime_).ShutdownBackground();
  });
  executor_.Post([&] { waits.Notify(); });
  EXPECT_EQ(Run(run()), 1);
  shutdown.join();
}
#endif

}  // namespace
}  // namespace rouse::interop
