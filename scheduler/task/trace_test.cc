// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/internal/manual_schedule.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

// A future that runs the test's code while its task is traced.
class Leaf {
 public:
  struct Script {
    Waker waker;
    bool ready = false;
    std::function<void()> during_trace = [] {};
  };

  explicit Leaf(Script* script) : script_(script) {}
  PollResult<int> Poll(Context& cx) {
    script_->waker = cx.waker().Clone();
    if (!script_->ready) return kPending;
    return 7;
  }
  void Trace(AwaitTrace& trace) const {
    script_->during_trace();
    trace.AddLeaf("Leaf");
  }

 private:
  Script* script_;
};

class TraceTest : public ::testing::Test {
 public:
  // Traces the task like a thread that has found it in a list.
  std::optional<std::string> Trace() {
    Header* task = schedule_->listed();
    task->state.Ref();
    AwaitTrace trace;
    const bool traced = task::Trace(task, trace);
    task::Unref(task);
    if (!traced) return std::nullopt;
    return trace.ToString();
  }

 protected:
  ~TraceTest() override {
    if (schedule_->listed() != nullptr) schedule_->ShutdownListed();
    schedule_->RunAll();
    script_.waker.Reset();
    schedule_->Unref();
  }

  ManualSchedule* const schedule_ = new ManualSchedule;
  Leaf::Script script_;
};

int await_line;
Co<int> AwaitLeaf(Leaf::Script* script) {
  await_line = __LINE__ + 1;
  co_return co_await Leaf(script);
}

TEST_F(TraceTest, ShowsWhereTheTaskWaits) {
  JoinHandle<int> handle = schedule_->Start(AwaitLeaf(&script_));
  schedule_->RunNext();
  const std::string text = *Trace();
  EXPECT_TRUE(text.ends_with(
      absl::StrCat("AwaitLeaf at scheduler/task/trace_test.cc:", await_line,
                   "\nawaiting Leaf\n")))
      << text;
}

TEST_F(TraceTest, ContinuesIntoTheFutureOfACallable) {
  JoinHandle<int> handle = schedule_->Start([this] { return Leaf(&script_); });
  const std::string text = *Trace();
  EXPECT_TRUE(text.ends_with("::Leaf, not started\n")) << text;
  schedule_->RunNext();
  EXPECT_EQ(*Trace(), "awaiting Leaf\n");
}

TEST_F(TraceTest, LeavesTheTaskIdle) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  schedule_->RunNext();
  Trace();
  EXPECT_EQ(schedule_->queued(), 0u);
  script_.ready = true;
  script_.waker.WakeByRef();
  EXPECT_TRUE(schedule_->RunNext());
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(TraceTest, QueuesATaskWokenDuringTheTrace) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  schedule_->RunNext();
  script_.during_trace = [this] {
    script_.ready = true;
    script_.waker.WakeByRef();
    EXPECT_EQ(schedule_->queued(), 0u);
  };
  Trace();
  EXPECT_TRUE(schedule_->RunNext());
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(TraceTest, PostponesAPoll) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  script_.ready = true;
  script_.during_trace = [this] {
    EXPECT_TRUE(schedule_->RunNext());
    EXPECT_FALSE(schedule_->RunNext());
  };
  Trace();
  EXPECT_FALSE(handle.IsFinished());
  EXPECT_TRUE(schedule_->RunNext());
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(TraceTest, PostponesAnAbort) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  schedule_->RunNext();
  script_.during_trace = [&] { handle.Abort(); };
  Trace();
  EXPECT_FALSE(handle.IsFinished());
  EXPECT_TRUE(schedule_->RunNext());
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(TraceTest, ARunningTaskHasNoTrace) {
  class Self {
   public:
    explicit Self(TraceTest* test) : test_(test) {}
    PollResult<int> Poll(Context&) {
      EXPECT_EQ(test_->Trace(), std::nullopt);
      return 7;
    }

   private:
    TraceTest* test_;
  };
  JoinHandle<int> handle = schedule_->Start(Self(this));
  schedule_->RunNext();
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(TraceTest, ShutdownWaitsForTheTrace) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  schedule_->RunNext();
  std::atomic<bool> begun = false;
  std::atomic<bool> end = false;
  script_.during_trace = [&] {
    begun.store(true);
    while (!end.load()) std::this_thread::yield();
    EXPECT_FALSE(handle.IsFinished());
  };
  std::thread tracing([&] { Trace(); });
  while (!begun.load()) std::this_thread::yield();
  std::thread stopping([&] { schedule_->ShutdownListed(); });
  end.store(true);
  stopping.join();
  EXPECT_TRUE(handle.IsFinished());
  tracing.join();
}

TEST_F(TraceTest, APollRecordsItsTime) {
  JoinHandle<int> handle = schedule_->Start(Leaf(&script_));
  EXPECT_EQ(schedule_->listed()->polled_ms.load(), 0u);
  schedule_->RunNext(1234);
  EXPECT_EQ(schedule_->listed()->polled_ms.load(), 1234u);
}

}  // namespace
}  // namespace rouse::task
