// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: posted_task.h
// -----------------------------------------------------------------------------
//
// Runs a coroutine on an executor that exists, such as the dispatcher of a
// proxy or of a user interface, which can call a function soon:
//
//   example::PostedTask task(
//       [&dispatcher](std::function<void()> f) { dispatcher.post(f); },
//       Serve(...));

#ifndef ROUSE_EXAMPLES_CUSTOM_EXECUTOR_POSTED_TASK_H_
#define ROUSE_EXAMPLES_CUSTOM_EXECUTOR_POSTED_TASK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "rouse/future/co.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace example {

// PostedTask
//
// Polls `future` in functions that it gives to `post`. `post` can be called by
// any thread, and has the functions called one after another on the executor's
// thread. Made and destroyed on that thread: the destructor cancels the future.
// An exception that leaves the future leaves the posted function.
class PostedTask {
 public:
  using Post = std::function<void(std::function<void()>)>;

  PostedTask(Post post, rouse::Co<> future)
      : state_(std::make_shared<State>(std::move(post), std::move(future))) {
    state_->Wake();
  }
  PostedTask(PostedTask&&) = default;
  PostedTask& operator=(PostedTask&&) = delete;
  ~PostedTask() {
    if (state_ != nullptr) state_->future.reset();
  }

  bool HasEnded() const { return !state_->future.has_value(); }

 private:
  // Shared with wakers and posted functions, which may outlive the task.
  struct State : std::enable_shared_from_this<State> {
    State(Post p, rouse::Co<> f) : post(std::move(p)), future(std::move(f)) {}

    // Called by any thread.
    void Wake() {
      if (is_woken.exchange(true)) return;  // posted already
      post([self = this->shared_from_this()] { self->Poll(); });
    }
    void Poll() {
      // Before the poll, because a wake during the poll asks for another one.
      // An exchange and not a store: it pairs with the exchange in `Wake()`, so
      // the poll sees what earlier wakers wrote.
      is_woken.exchange(false);
      if (!future.has_value()) return;  // cancelled, or ended
      const rouse::Waker waker = rouse::Waker::FromCallable(
          [self = this->shared_from_this()] { self->Wake(); });
      rouse::Context cx(waker);
      if (future->Poll(cx).IsReady()) future.reset();
    }

    const Post post;
    std::optional<rouse::Co<>> future;  // empty when it has ended
    std::atomic<bool> is_woken = false;
  };

  std::shared_ptr<State> state_;
};

}  // namespace example

#endif  // ROUSE_EXAMPLES_CUSTOM_EXECUTOR_POSTED_TASK_H_
