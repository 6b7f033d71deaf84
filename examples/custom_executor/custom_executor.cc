// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs two tasks on the executor of executor.h: one ticks, and the other waits
// for another thread.
//
//   tools/bazel run //examples/custom_executor

#include <atomic>
#include <cstdio>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/examples/custom_executor/executor.h"
#include "rouse/future/co.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace {

// A future of a number that another thread sets.
class Answer {
 public:
  void Set(int value) {
    value_ = value;
    is_set_ = true;
    waker_.Wake();
  }

  rouse::PollResult<int> Poll(rouse::Context& cx) {
    if (!is_set_) waker_.Register(cx.waker());
    // Again: a wake before the registration would otherwise be lost.
    if (!is_set_) return rouse::kPending;
    return value_;
  }

 private:
  int value_ = 0;
  std::atomic<bool> is_set_ = false;
  rouse::AtomicWaker waker_;
};

rouse::Co<> Tick(rouse::heap::TimerHandle timer) {
  for (int i = 1;; ++i) {
    const absl::Status time_is_up =
        co_await rouse::heap::Delay(timer, absl::Milliseconds(10));
    if (!time_is_up.ok()) co_return;  // the timer was destroyed
    printf("tick %d\n", i);
  }
}

rouse::Co<> Main(example::Executor& executor) {
  executor.Spawn(Tick(executor.timer()));
  Answer answer;
  // Joins in its destructor, before `answer` is destroyed.
  const std::jthread thread([&answer] { answer.Set(6 * 7); });
  printf("the thread answers %d\n", co_await answer);
  (void)co_await rouse::heap::Delay(executor.timer(), absl::Milliseconds(55));
}

}  // namespace

int main() {
  example::Executor executor;
  executor.Run(Main(executor));
  printf("the destructor cancels the ticks\n");
}
