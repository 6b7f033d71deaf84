// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: foreign_task.h
// -----------------------------------------------------------------------------
//
// For tests of interop/: a coroutine type, an executor and an event of another
// library, which know nothing of Rouse. The coroutine uses symmetric transfer,
// as most libraries do.

#ifndef ROUSE_INTEROP_FOREIGN_TASK_H_
#define ROUSE_INTEROP_FOREIGN_TASK_H_

#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace foreign {

// A lazy coroutine of an int.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Continue {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(
            std::coroutine_handle<promise_type> self) noexcept {
          const std::coroutine_handle<> next = self.promise().continuation;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Continue();
    }
    void return_value(int v) { value = v; }
    void unhandled_exception() { exception = std::current_exception(); }

    std::coroutine_handle<> continuation;
    std::optional<int> value;
    std::exception_ptr exception;
  };

  Task(Task&& other) noexcept
      : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  // Runs the coroutine without an awaiting coroutine.
  void Start() { coroutine_.resume(); }
  std::optional<int> value() const { return coroutine_.promise().value; }
  std::exception_ptr exception() const {
    return coroutine_.promise().exception;
  }

  auto operator co_await() && {
    struct Awaiter {
      bool await_ready() { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
        coroutine.promise().continuation = awaiting;
        return coroutine;
      }
      int await_resume() {
        promise_type& promise = coroutine.promise();
        if (promise.exception) std::rethrow_exception(promise.exception);
        return *promise.value;
      }
      std::coroutine_handle<promise_type> coroutine;
    };
    return Awaiter{coroutine_};
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> coroutine)
      : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

// Runs functions on a thread of its own.
class Executor {
 public:
  Executor() : thread_([this] { Run(); }) {}
  ~Executor() {
    Post(nullptr);
    thread_.join();
  }

  template <class F>
  void Post(F function) {
    auto shared = std::make_shared<F>(std::move(function));
    PostFunction([shared] { (*shared)(); });
  }
  void Post(std::nullptr_t) { PostFunction(nullptr); }

  std::thread::id thread_id() const { return thread_.get_id(); }

  // Returns an awaitable that continues the coroutine on the executor.
  auto Schedule() {
    struct Awaiter {
      bool await_ready() { return false; }
      void await_suspend(std::coroutine_handle<> awaiting) {
        executor->Post([awaiting] { awaiting.resume(); });
      }
      void await_resume() {}
      Executor* executor;
    };
    return Awaiter{this};
  }

 private:
  void PostFunction(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
    changed_.notify_one();
  }

  void Run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !functions_.empty(); });
      const std::function<void()> next = std::move(functions_.front());
      functions_.pop_front();
      lock.unlock();
      if (next == nullptr) return;
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> functions_;
  std::thread thread_;
};

// An awaitable without `operator co_await()`, which gives a reference and is
// resumed by hand.
class Event {
 public:
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    *awaiting_ = awaiting;
  }
  int& await_resume() { return *value_; }

  Event(std::coroutine_handle<>* awaiting, int* value)
      : awaiting_(awaiting), value_(value) {}

 private:
  std::coroutine_handle<>* awaiting_;
  int* value_;
};

}  // namespace foreign

#endif  // ROUSE_INTEROP_FOREIGN_TASK_H_
