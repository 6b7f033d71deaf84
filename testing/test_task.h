// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: test_task.h
// -----------------------------------------------------------------------------
//
// A task that runs only when the test polls it, for tests of a future that has
// no runtime around it.
//
//   auto [sender, receiver] = oneshot::Channel<int>();
//   TestTask task(std::move(receiver));
//   EXPECT_THAT(task.Poll(), IsPending());
//   EXPECT_FALSE(task.is_woken());
//   EXPECT_TRUE(sender.Send(7));
//   EXPECT_TRUE(task.is_woken());
//   EXPECT_THAT(task.Poll(), IsReadyAndHolds(IsOkAndHolds(7)));

#ifndef ROUSE_TESTING_TEST_TASK_H_
#define ROUSE_TESTING_TEST_TASK_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"

namespace rouse {

// TestTask
//
// A future, or a stream, and the waker of the task that polls the future. `F`
// is a future, a stream, or a callable that returns a future (a coroutine
// lambda, for example), which is called at the first poll.
//
// The future runs outside any runtime: `Spawn()` is a `Panic()`, and `Sleep()`
// needs a driver that the test has made current.
//
// The task's wakers must be destroyed before the task, or the test fails.
// Wakers can be used by any thread, and all other functions by one thread at a
// time.
template <class F>
class TestTask {
  using Held = std::conditional_t<Stream<F>, F, internal::FutureFrom<F>>;

 public:
  explicit TestTask(F future) { future_.emplace(std::move(future)); }
  TestTask(const TestTask&) = delete;
  TestTask& operator=(const TestTask&) = delete;

  // Polls the future once, with a fresh budget, and returns the result. A
  // `Panic()` after `Cancel()`.
  auto Poll() {
    Held& future = **this;
    seen_wakes_ = waker_.wakes();
    return waker_.Poll(future);
  }

  // Polls the stream once for its next item, with a fresh budget, and returns
  // the result. A `Panic()` after `Cancel()`.
  auto PollNext() {
    Held& stream = **this;
    seen_wakes_ = waker_.wakes();
    return waker_.PollNext(stream);
  }

  // Returns whether the task has been woken since the last poll began, or since
  // the task was created.
  bool is_woken() const { return waker_.wakes() != seen_wakes_; }

  // Returns how often the task has been woken in total.
  int wakes() const { return waker_.wakes(); }

  // Returns how many wakers of the task exist.
  int wakers() const { return waker_.live(); }

  // Returns the future. A `Panic()` after `Cancel()`.
  Held& operator*() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!future_.has_value()) {
      Panic("a TestTask was used after Cancel(), which destroyed the future");
    }
    return *future_;
  }
  Held* operator->() ABSL_ATTRIBUTE_LIFETIME_BOUND { return &**this; }

  // Destroys the future, as a runtime does with the future of a task that is
  // cancelled. Of the other functions, only those that count wakes and wakers
  // can be called afterwards.
  void Cancel() { future_.reset(); }

 private:
  // The waker is destroyed after the future, which may still hold clones.
  CountingWaker waker_;
  int seen_wakes_ = 0;
  std::optional<Held> future_;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_TEST_TASK_H_
