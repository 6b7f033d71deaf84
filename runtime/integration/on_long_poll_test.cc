// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the reports of long polls.

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/runtime/stack_of_thread.h"
#include "rouse/scheduler/long_poll.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/task_id.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kBound = absl::Milliseconds(2);

// Collects the reports, with their names.
class Reports {
 public:
  struct Report {
    LongPoll poll;
    std::string text;
    std::string stack;
  };

  explicit Reports(std::string name, bool with_stack = false)
      : name_(std::move(name)), with_stack_(with_stack) {}

  // Collects only reports of tasks with this name, because a busy machine has
  // other long polls.
  LongPollCallback callback() {
    return [this](const LongPoll& poll) {
      if (poll.task.name != name_) return;
      Report report{poll, absl::StrCat(poll), ""};
      report.poll.task.name = "";
      if (with_stack_ && !poll.ended) {
        // The poll may be long because its thread does not run.
        while (!spins_.load(std::memory_order_acquire)) sched_yield();
        const absl::StatusOr<std::string> stack =
            StackOfThread(poll.thread, 0, absl::InfiniteDuration());
        report.stack = stack.ok() ? *stack : stack.status().ToString();
      }
      const absl::MutexLock lock(&mu_);
      (poll.ended ? ended_ : under_way_).push_back(std::move(report));
      notified_.store(true, std::memory_order_release);
    };
  }
  std::vector<Report> under_way() const {
    const absl::MutexLock lock(&mu_);
    return under_way_;
  }
  std::vector<Report> ended() const {
    const absl::MutexLock lock(&mu_);
    return ended_;
  }
  // Spins until any report arrives. Calls no library function, not even one of
  // a sanitizer, whose frames may hide those of its callers.
  ABSL_ATTRIBUTE_NOINLINE void SpinUntilNotified() {
    spins_.store(true, std::memory_order_release);
    while (!notified_.load(std::memory_order_acquire)) {
      ABSL_BLOCK_TAIL_CALL_OPTIMIZATION();
    }
  }

 private:
  const std::string name_;
  const bool with_stack_;
  std::atomic<bool> spins_{false};
  std::atomic<bool> notified_{false};
  mutable absl::Mutex mu_;
  std::vector<Report> under_way_ ABSL_GUARDED_BY(mu_);
  std::vector<Report> ended_ ABSL_GUARDED_BY(mu_);
};

ABSL_ATTRIBUTE_NOINLINE void ComputeUntil(const std::function<bool()>& done) {
  while (!done()) ABSL_BLOCK_TAIL_CALL_OPTIMIZATION();
}

std::function<bool()> HasPassed(absl::Duration time) {
  return [time, start = std::chrono::steady_clock::now()] {
    return absl::FromChrono(std::chrono::steady_clock::now() - start) >= time;
  };
}

Builder MultiThread() {
  return std::move(
      Builder::MultiThread().WorkerThreads(1).LongPollBound(kBound));
}

Runtime Build(Builder builder) {
  absl::StatusOr<Runtime> runtime = builder.Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

TEST(OnLongPoll, IsCalledDuringThePollAndAfterIt) {
  Reports reports("stuck");
  Builder builder = MultiThread();
  builder.OnLongPoll(reports.callback());
  Runtime runtime = Build(std::move(builder));
  pid_t thread = 0;
  auto body = [&]() -> Co<> {
    thread = gettid();
    ComputeUntil([&reports] { return !reports.under_way().empty(); });
    // No second report arrives.
    ComputeUntil(HasPassed(4 * kBound));
    while (reports.ended().empty()) co_await Sleep(absl::Milliseconds(1));
  };
  const int line = static_cast<int>(std::source_location::current().line()) + 1;
  JoinHandle<void> task = runtime.Spawn(body, {.name = "stuck"});
  const TaskId id = task.id();
  EXPECT_THAT(runtime.BlockOn(std::move(task)), IsOk());

  ASSERT_THAT(reports.under_way(), SizeIs(1));
  const LongPoll under_way = reports.under_way()[0].poll;
  EXPECT_EQ(under_way.task.id, id);
  EXPECT_EQ(under_way.task.spawned_at.line(), line);
  EXPECT_GE(under_way.duration, kBound / 2);
  EXPECT_EQ(under_way.worker, 0u);
  EXPECT_EQ(under_way.thread, thread);
  EXPECT_THAT(under_way.awaits.steps(), IsEmpty());
  EXPECT_THAT(reports.under_way()[0].text,
              AllOf(HasSubstr(absl::StrCat("task ", id, " \"stuck\" (spawned")),
                    HasSubstr("has been polled for ")));

  ASSERT_GE(reports.ended().size(), 1u);
  const LongPoll ended = reports.ended()[0].poll;
  EXPECT_EQ(ended.task.id, id);
  EXPECT_GE(ended.duration, 4 * kBound);
  EXPECT_EQ(ended.thread, thread);
  EXPECT_THAT(ended.awaits.ToString(),
              AllOf(HasSubstr("on_long_poll_test.cc"), HasSubstr("Sleep")));
  EXPECT_THAT(reports.ended()[0].text, HasSubstr("and now waits in"));
  EXPECT_GE(runtime.metrics().long_polls, 1u);
}

// On a current-thread runtime, the report comes after the poll, with all of its
// time.
TEST(OnLongPoll, IsCalledInACurrentThreadRuntime) {
  Reports reports("stuck");
  Builder builder = Builder::CurrentThread();
  builder.LongPollBound(kBound).OnLongPoll(reports.callback());
  Runtime runtime = Build(std::move(builder));
  auto body = []() -> Co<> {
    ComputeUntil(HasPassed(kBound));
    co_await Yield();
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body, {.name = "stuck"})), IsOk());
  EXPECT_THAT(reports.under_way(), IsEmpty());
  ASSERT_GE(reports.ended().size(), 1u);
  EXPECT_GE(reports.ended()[0].poll.duration, kBound);
  EXPECT_GE(runtime.metrics().long_polls, 1u);
}

// The name is that of a destroyed task.
TEST(OnLongPoll, IsCalledForAPollThatEndsTheTask) {
  Reports reports("the last of it");
  Builder builder = MultiThread();
  builder.OnLongPoll(reports.callback());
  Runtime runtime = Build(std::move(builder));
  auto body = [&reports]() -> Co<> {
    ComputeUntil([&reports] { return !reports.under_way().empty(); });
    co_return;
  };
  runtime.Spawn(body, {.name = "the last of it"}).Detach();
  auto until_notified = [&reports]() -> Co<> {
    while (reports.ended().empty()) co_await Sleep(absl::Milliseconds(1));
  };
  runtime.BlockOn(until_notified());
  EXPECT_THAT(reports.ended()[0].poll.awaits.steps(), IsEmpty());
}

TEST(OnLongPoll, LongPollsAreCountedWithoutTheHook) {
  Runtime runtime = Build(MultiThread());
  auto body = [&runtime]() -> Co<> {
    ComputeUntil([&runtime] { return runtime.metrics().long_polls > 0; });
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body)), IsOk());
  EXPECT_GE(runtime.metrics().workers[0].long_polls, 1u);
}

TEST(OnLongPoll, TheHookCanReadTheStackOfTheThread) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  GTEST_SKIP() << "handles a signal when the thread has left its code";
#endif
  Reports reports("stuck", /*with_stack=*/true);
  Builder builder = MultiThread();
  builder.OnLongPoll(reports.callback());
  Runtime runtime = Build(std::move(builder));
  auto body = [&reports]() -> Co<> {
    reports.SpinUntilNotified();
    co_return;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(body, {.name = "stuck"})), IsOk());
  ASSERT_GE(reports.under_way().size(), 1u);
  // While a call begins or ends, the caller's frame cannot be seen.
  EXPECT_THAT(reports.under_way()[0].stack,
              AnyOf(HasSubstr("SpinUntilNotified"),
                    HasSubstr("TheHookCanReadTheStackOfTheThread")));
}

}  // namespace
}  // namespace rouse
