// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: executor.h
// -----------------------------------------------------------------------------
//
// An executor by hand: one thread, a queue of tasks, a waker and a timer.

#ifndef ROUSE_EXAMPLES_CUSTOM_EXECUTOR_EXECUTOR_H_
#define ROUSE_EXAMPLES_CUSTOM_EXECUTOR_EXECUTOR_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rouse/future/co.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace example {

// Executor
//
// Runs tasks on the thread that calls `Run()`. An exception that leaves a task
// ends the program. Wakers are for any thread, and may outlive the executor.
// The executor itself is for a single thread.
class Executor {
 public:
  Executor() : queue_(std::make_shared<Queue>(parker_.unparker())) {}

  // Cancels the tasks that have not ended.
  ~Executor() {
    queue_->TakeAll(/*close=*/true);
    while (!tasks_.empty()) End(tasks_.begin()->first);
  }

  // Returns the handle for delays: `heap::Delay(executor.timer(), duration)`.
  rouse::heap::TimerHandle timer() const { return timer_.handle(); }

  void Spawn(rouse::Co<> future) {
    auto* const task = new Task{queue_, std::move(future)};
    tasks_.emplace(task, Ref(task));
    Task::WakeByRef(task);
  }

  // Runs `main`, and all other tasks, until `main` ends.
  void Run(rouse::Co<> main) noexcept {
    bool has_ended = false;
    Spawn(SetAtEnd(std::move(main), has_ended));
    while (!has_ended) {
      // A new delay, like a woken task, ends the park below.
      rouse::Context cx(queue_->unparker.waker());
      (void)timer_.Poll(cx);
      timer_.Advance();
      const std::vector<Ref> woken = queue_->TakeAll();
      for (const Ref& task : woken) Poll(task.get());
      if (!woken.empty()) continue;
      // A wake since TakeAll() makes the park return at once.
      const rouse::Instant next =
          timer_.NextEvent().value_or(rouse::Instant::Max());
      parker_.ParkFor(next - timer_.clock().Now());
    }
  }

 private:
  struct Task;
  struct Unref {
    void operator()(Task* task) const { Task::Drop(task); }
  };
  using Ref = std::unique_ptr<Task, Unref>;

  // The woken tasks. Tasks share the queue, because a waker may wake its task
  // after the executor was destroyed.
  struct Queue {
    explicit Queue(rouse::ThreadParker::Unparker u) : unparker(std::move(u)) {}

    void Push(Ref task) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (closed) return;
      woken.push_back(std::move(task));
      unparker.Unpark();
    }
    std::vector<Ref> TakeAll(bool close = false) {
      const std::lock_guard<std::mutex> lock(mutex);
      closed = closed || close;
      return std::exchange(woken, {});
    }
    const rouse::ThreadParker::Unparker unparker;
    std::mutex mutex;
    bool closed = false;
    std::vector<Ref> woken;
  };

  // A future, and the implementation of its wakers. Each waker, the queue and
  // `tasks_` have a reference.
  struct Task {
    static rouse::RawWaker Clone(void* data) {
      static_cast<Task*>(data)->references.fetch_add(1);
      return {data, &kVTable};
    }
    static void Wake(void* data) {
      WakeByRef(data);
      Drop(data);
    }
    static void WakeByRef(void* data) {
      auto* const task = static_cast<Task*>(data);
      if (task->is_woken.exchange(true)) return;  // in the queue already
      task->references.fetch_add(1);
      task->queue->Push(Ref(task));
    }
    static void Drop(void* data) {
      auto* const task = static_cast<Task*>(data);
      if (task->references.fetch_sub(1) == 1) delete task;
    }
    static constexpr rouse::RawWakerVTable kVTable = {&Clone, &Wake, &WakeByRef,
                                                      &Drop};

    const std::shared_ptr<Queue> queue;
    std::optional<rouse::Co<>> future;  // empty when the task has ended
    std::atomic<size_t> references = 1;
    std::atomic<bool> is_woken = false;
  };

  static rouse::Co<> SetAtEnd(rouse::Co<> future, bool& has_ended) {
    co_await std::move(future);
    has_ended = true;
  }

  void Poll(Task* task) {
    // Before the poll, because a wake during the poll asks for another poll. An
    // exchange and not a store: the poll must see what earlier wakers wrote.
    task->is_woken.exchange(false);
    if (!task->future.has_value()) return;
    const rouse::BorrowedWaker waker({task, &Task::kVTable});
    rouse::Context cx(waker.get());
    if (task->future->Poll(cx).IsReady()) End(task);
  }

  void End(Task* task) {
    const auto node = tasks_.extract(task);
    task->future.reset();
  }

  rouse::ThreadParker parker_;
  rouse::heap::Timer timer_;
  const std::shared_ptr<Queue> queue_;
  std::unordered_map<Task*, Ref> tasks_;  // the tasks that have not ended
};

}  // namespace example

#endif  // ROUSE_EXAMPLES_CUSTOM_EXECUTOR_EXECUTOR_H_
